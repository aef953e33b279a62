; The fast paths of the instrumentation. Linked into every unit and inlined there: code that touches
; nothing symbolic and no tracked object calls nothing.

@lp_filter = external global [65536 x i8]
@lp_any = external global i32
@lp_track_low = external global i64
@lp_track_length = external global i64
@lp_args = external global [32 x i32]
@lp_callee = external global ptr
@lp_ret = external global i32
@lp_site = external global i32
@lp_concretised = external global i32

declare i32 @lp_rt_load(i64, i32, i64, i32)
declare void @lp_rt_store(i64, i32, i64, i32, i32)
declare void @lp_rt_use(i64, i64)
declare i32 @lp_rt_bin(i32, i32, i64, i32, i64, i32, i64)
declare i32 @lp_rt_cast(i32, i32, i32, i64, i32, i64)
declare i32 @lp_rt_select(i32, i32, i64, i32, i64, i32, i32)
declare i32 @lp_rt_gep(i64, i32, i64, i32, i32, i64)
declare void @lp_rt_branch(i32, i32, i32, i32)
declare void @lp_rt_switch(i32, i32, i32, i32)
declare void @lp_rt_copy(i64, i64, i64)
declare void @lp_rt_set(i64, i64, i32, i64)
declare void @lp_rt_point(i32, i64)
declare void @lp_rt_enter(i32)
declare void @lp_rt_leave(i32)
declare i32 @lp_rt_argc(i32)
declare ptr @lp_rt_argv(ptr)
declare ptr @llvm.frameaddress.p0(i32)

define i32 @lp_load(i64 %a, i32 %size, i64 %v, i32 %sa) alwaysinline {
  %n = zext i32 %size to i64
  %m = sub i64 %n, 1
  %last = add i64 %a, %m
  %p0 = lshr i64 %a, 12
  %i0 = and i64 %p0, 65535
  %q0 = getelementptr i8, ptr @lp_filter, i64 %i0
  %f0 = load i8, ptr %q0
  %p1 = lshr i64 %last, 12
  %i1 = and i64 %p1, 65535
  %q1 = getelementptr i8, ptr @lp_filter, i64 %i1
  %f1 = load i8, ptr %q1
  %f = or i8 %f0, %f1
  %fw = zext i8 %f to i32
  %low = load i64, ptr @lp_track_low
  %len = load i64, ptr @lp_track_length
  %d = sub i64 %a, %low
  %t = icmp ult i64 %d, %len
  %tw = zext i1 %t to i32
  %o1 = or i32 %fw, %tw
  %o2 = or i32 %o1, %sa
  %z = icmp eq i32 %o2, 0
  br i1 %z, label %fast, label %slow
fast:
  ret i32 0
slow:
  %r = call i32 @lp_rt_load(i64 %a, i32 %size, i64 %v, i32 %sa)
  ret i32 %r
}

define void @lp_store(i64 %a, i32 %size, i64 %v, i32 %s, i32 %sa) alwaysinline {
  %n = zext i32 %size to i64
  %m = sub i64 %n, 1
  %last = add i64 %a, %m
  %p0 = lshr i64 %a, 12
  %i0 = and i64 %p0, 65535
  %q0 = getelementptr i8, ptr @lp_filter, i64 %i0
  %f0 = load i8, ptr %q0
  %p1 = lshr i64 %last, 12
  %i1 = and i64 %p1, 65535
  %q1 = getelementptr i8, ptr @lp_filter, i64 %i1
  %f1 = load i8, ptr %q1
  %f = or i8 %f0, %f1
  %fw = zext i8 %f to i32
  %low = load i64, ptr @lp_track_low
  %len = load i64, ptr @lp_track_length
  %d = sub i64 %a, %low
  %t = icmp ult i64 %d, %len
  %tw = zext i1 %t to i32
  %o1 = or i32 %fw, %tw
  %o2 = or i32 %o1, %s
  %o3 = or i32 %o2, %sa
  %z = icmp eq i32 %o3, 0
  br i1 %z, label %fast, label %slow
fast:
  ret void
slow:
  call void @lp_rt_store(i64 %a, i32 %size, i64 %v, i32 %s, i32 %sa)
  ret void
}

define void @lp_use(i64 %a, i64 %n) alwaysinline {
  %low = load i64, ptr @lp_track_low
  %len = load i64, ptr @lp_track_length
  %d = sub i64 %a, %low
  %t = icmp ult i64 %d, %len
  br i1 %t, label %slow, label %fast
fast:
  ret void
slow:
  call void @lp_rt_use(i64 %a, i64 %n)
  ret void
}

define i32 @lp_bin(i32 %op, i32 %bits, i64 %a, i32 %sa, i64 %b, i32 %sb, i64 %r) alwaysinline {
  %o = or i32 %sa, %sb
  %z = icmp eq i32 %o, 0
  br i1 %z, label %fast, label %slow
fast:
  ret i32 0
slow:
  %n = call i32 @lp_rt_bin(i32 %op, i32 %bits, i64 %a, i32 %sa, i64 %b, i32 %sb, i64 %r)
  ret i32 %n
}

define i32 @lp_cast(i32 %op, i32 %from, i32 %to, i64 %a, i32 %sa, i64 %r) alwaysinline {
  %z = icmp eq i32 %sa, 0
  br i1 %z, label %fast, label %slow
fast:
  ret i32 0
slow:
  %n = call i32 @lp_rt_cast(i32 %op, i32 %from, i32 %to, i64 %a, i32 %sa, i64 %r)
  ret i32 %n
}

define i32 @lp_select(i32 %c, i32 %sc, i64 %a, i32 %sa, i64 %b, i32 %sb, i32 %bits) alwaysinline {
  %z = icmp eq i32 %sc, 0
  br i1 %z, label %fast, label %slow
fast:
  %t = icmp ne i32 %c, 0
  %s = select i1 %t, i32 %sa, i32 %sb
  ret i32 %s
slow:
  %n = call i32 @lp_rt_select(i32 %c, i32 %sc, i64 %a, i32 %sa, i64 %b, i32 %sb, i32 %bits)
  ret i32 %n
}

define i32 @lp_gep(i64 %base, i32 %sb, i64 %i, i32 %si, i32 %bits, i64 %scale) alwaysinline {
  %o = or i32 %sb, %si
  %z = icmp eq i32 %o, 0
  br i1 %z, label %fast, label %slow
fast:
  ret i32 0
slow:
  %n = call i32 @lp_rt_gep(i64 %base, i32 %sb, i64 %i, i32 %si, i32 %bits, i64 %scale)
  ret i32 %n
}

define void @lp_branch(i32 %id, i32 %taken, i32 %s, ptr %sides, i1 %watched) alwaysinline {
  %side = zext i32 %taken to i64
  %slot = getelementptr i8, ptr %sides, i64 %side
  %told = load i8, ptr %slot
  %new = icmp eq i8 %told, 0
  %symbolic = icmp ne i32 %s, 0
  %either = or i1 %new, %symbolic
  %tell = or i1 %either, %watched
  br i1 %tell, label %slow, label %fast
fast:
  ret void
slow:
  store i8 1, ptr %slot
  %first = zext i1 %new to i32
  call void @lp_rt_branch(i32 %id, i32 %taken, i32 %s, i32 %first)
  ret void
}

define void @lp_switch(i32 %id, i32 %taken, i32 %s, ptr %sides, i1 %watched) alwaysinline {
  %side = zext i32 %taken to i64
  %slot = getelementptr i8, ptr %sides, i64 %side
  %told = load i8, ptr %slot
  %new = icmp eq i8 %told, 0
  %symbolic = icmp ne i32 %s, 0
  %either = or i1 %new, %symbolic
  %tell = or i1 %either, %watched
  br i1 %tell, label %slow, label %fast
fast:
  ret void
slow:
  store i8 1, ptr %slot
  %first = zext i1 %new to i32
  call void @lp_rt_switch(i32 %id, i32 %taken, i32 %s, i32 %first)
  ret void
}

define void @lp_copy(i64 %d, i64 %s, i64 %n) alwaysinline {
  %any = load i32, ptr @lp_any
  %z = icmp eq i32 %any, 0
  br i1 %z, label %fast, label %slow
fast:
  ret void
slow:
  call void @lp_rt_copy(i64 %d, i64 %s, i64 %n)
  ret void
}

define void @lp_set(i64 %d, i64 %v, i32 %s, i64 %n) alwaysinline {
  %any = load i32, ptr @lp_any
  %z = icmp eq i32 %any, 0
  br i1 %z, label %fast, label %slow
fast:
  ret void
slow:
  call void @lp_rt_set(i64 %d, i64 %v, i32 %s, i64 %n)
  ret void
}

define void @lp_extern(i32 %s) alwaysinline {
  %z = icmp eq i32 %s, 0
  br i1 %z, label %fast, label %slow
fast:
  ret void
slow:
  store i32 1, ptr @lp_concretised
  ret void
}

define void @lp_point(i32 %p) alwaysinline {
  %f = call ptr @llvm.frameaddress.p0(i32 0)
  %i = ptrtoint ptr %f to i64
  call void @lp_rt_point(i32 %p, i64 %i)
  ret void
}

; Mentions what only instrumented code uses, so that linking this file brings it along.
define void @lp_keep() {
  store i32 0, ptr @lp_args
  store ptr null, ptr @lp_callee
  store i32 0, ptr @lp_ret
  store i32 0, ptr @lp_site
  call void @lp_rt_enter(i32 0)
  call void @lp_rt_leave(i32 0)
  %c = call i32 @lp_rt_argc(i32 0)
  %v = call ptr @lp_rt_argv(ptr null)
  ret void
}
