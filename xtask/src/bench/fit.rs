//! A power law through measured points: least squares on logarithms.

/// `factor * x ^ exponent`.
#[derive(Clone, Copy, Debug)]
pub struct PowerLaw {
    pub factor: f64,
    pub exponent: f64,
}

impl PowerLaw {
    pub fn at(self, x: f64) -> f64 {
        self.factor * x.powf(self.exponent)
    }
}

/// The law that fits best; fewer than five points say nothing.
pub fn power_law(points: impl Iterator<Item = (f64, f64)>) -> Option<PowerLaw> {
    let positive = points.filter(|&(x, y)| x > 0.0 && y > 0.0);
    let points: Vec<(f64, f64)> = positive.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let exponent = (points.len() >= 5 && variance > 0.0).then(|| covariance / variance)?;
    Some(PowerLaw { factor: (my - exponent * mx).exp(), exponent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_behind_exact_points_is_found() {
        let points = (1..9).map(|i| (f64::from(i), 3.0 * f64::from(i).powf(1.5)));
        let law = power_law(points).unwrap();
        assert!((law.exponent - 1.5).abs() < 1e-9 && (law.at(4.0) - 24.0).abs() < 1e-9);
    }

    #[test]
    fn four_points_are_too_few() {
        assert!(power_law((1..5).map(|i| (f64::from(i), f64::from(i)))).is_none());
    }
}
