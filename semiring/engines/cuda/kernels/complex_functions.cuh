// The functions of expressions on complex numbers.  Functions of analysis compute in double; their branch cuts are
// those of C's complex.h, with the formulas of W. Kahan, "Branch cuts for complex elementary functions" (1987).

#pragma once

namespace op {

typedef Complex<f64> C64;

DEVICE f64 modulus(C64 z) { return ::hypot(z.re, z.im); }

DEVICE C64 exp_of(C64 z) {
    const f64 size = ::exp(z.re);
    return z.im == 0.0 ? C64(size, z.im) : C64(size * ::cos(z.im), size * ::sin(z.im));
}
// log |z| loses digits where |z| is near 1: there |z|^2 - 1 is computed from the factors of re^2 - 1.
DEVICE C64 log_of(C64 z) {
    const f64 size = modulus(z), a = ::fmax(::fabs(z.re), ::fabs(z.im)), b = ::fmin(::fabs(z.re), ::fabs(z.im));
    const bool near_one = size > 0.5 && size < 2.0;
    return C64(near_one ? 0.5 * ::log1p((a - 1.0) * (a + 1.0) + b * b) : ::log(size), ::atan2(z.im, z.re));
}
DEVICE C64 log1p_of(C64 z) {
    const f64 size = ::hypot(1.0 + z.re, z.im);
    const bool near_one = size > 0.5 && size < 2.0;
    return C64(near_one ? 0.5 * ::log1p(z.re * (2.0 + z.re) + z.im * z.im) : ::log(size), ::atan2(z.im, 1.0 + z.re));
}
DEVICE C64 expm1_of(C64 z) {
    const f64 half = ::sin(0.5 * z.im);
    return C64(::expm1(z.re) * ::cos(z.im) - 2.0 * half * half, z.im == 0.0 ? z.im : ::exp(z.re) * ::sin(z.im));
}
DEVICE C64 exp2_of(C64 z) { return exp_of(C64(z.re * 0.6931471805599453, z.im * 0.6931471805599453)); }
DEVICE C64 log2_of(C64 z) {
    const C64 made = log_of(z);
    return C64(made.re * 1.4426950408889634, made.im * 1.4426950408889634);
}
DEVICE C64 log10_of(C64 z) {
    const C64 made = log_of(z);
    return C64(made.re * 0.4342944819032518, made.im * 0.4342944819032518);
}
DEVICE C64 sqrt_of(C64 z) {
    if (z.re == 0.0 && z.im == 0.0) return C64(0.0, z.im);
    if (isinf(z.im)) return C64(::fabs(z.im), z.im);
    // Scaled, so that |z| + |re| does not overflow.
    const f64 scale = ::fmax(::fabs(z.re), ::fabs(z.im)) > 1e300 ? 0.25 : 1.0;
    const f64 size = ::sqrt((modulus(C64(z.re * scale, z.im * scale)) + ::fabs(z.re * scale)) * 0.5 / scale);
    if (z.re >= 0.0) return C64(size, z.im / (2.0 * size));
    return C64(::fabs(z.im) / (2.0 * size), ::copysign(size, z.im));
}
DEVICE C64 sinh_of(C64 z) {
    if (z.im == 0.0) return C64(::sinh(z.re), z.im);
    return C64(z.re == 0.0 ? z.re : ::sinh(z.re) * ::cos(z.im), ::cosh(z.re) * ::sin(z.im));
}
DEVICE C64 cosh_of(C64 z) {
    return C64(::cosh(z.re) * ::cos(z.im), z.re == 0.0 || z.im == 0.0 ? z.re * z.im : ::sinh(z.re) * ::sin(z.im));
}
DEVICE C64 tanh_of(C64 z) {
    if (::fabs(z.re) > 22.0) {
        return C64(::copysign(1.0, z.re), isinf(z.re) ? 0.0 : 4.0 * ::sin(z.im) * ::cos(z.im) * ::exp(-2.0 * ::fabs(z.re)));
    }
    const f64 t = ::tan(z.im), beta = 1.0 + t * t, s = ::sinh(z.re), rho = ::sqrt(1.0 + s * s);
    const f64 under = 1.0 + beta * s * s;
    return C64(beta * rho * s / under, t / under);
}
// i z, and its inverse -i z: functions of circles are those of hyperbolas turned by a right angle.
DEVICE C64 turned(C64 z) { return C64(-z.im, z.re); }
DEVICE C64 turned_back(C64 z) { return C64(z.im, -z.re); }
DEVICE C64 sin_of(C64 z) { return turned_back(sinh_of(turned(z))); }
DEVICE C64 cos_of(C64 z) { return cosh_of(turned(z)); }
DEVICE C64 tan_of(C64 z) { return turned_back(tanh_of(turned(z))); }

DEVICE C64 asin_of(C64 z) {
    const C64 below = sqrt_of(C64(1.0 - z.re, -z.im)), above = sqrt_of(C64(1.0 + z.re, z.im));
    return C64(::atan2(z.re, below.re * above.re - below.im * above.im),
               ::asinh(below.re * above.im - below.im * above.re));
}
DEVICE C64 acos_of(C64 z) {
    const C64 below = sqrt_of(C64(1.0 - z.re, -z.im)), above = sqrt_of(C64(1.0 + z.re, z.im));
    return C64(2.0 * ::atan2(below.re, above.re), ::asinh(above.re * below.im - above.im * below.re));
}
DEVICE C64 acosh_of(C64 z) {
    const C64 below = sqrt_of(C64(z.re - 1.0, z.im)), above = sqrt_of(C64(z.re + 1.0, z.im));
    return C64(::asinh(below.re * above.re + below.im * above.im), 2.0 * ::atan2(below.im, above.re));
}
DEVICE C64 atanh_of(C64 z) {
    const f64 below = 1.0 - z.re, above = 1.0 + z.re;
    return C64(0.25 * ::log1p(4.0 * z.re / (below * below + z.im * z.im)),
               0.5 * ::atan2(2.0 * z.im, below * above - z.im * z.im));
}
DEVICE C64 asinh_of(C64 z) { return turned_back(asin_of(turned(z))); }
DEVICE C64 atan_of(C64 z) { return turned_back(atanh_of(turned(z))); }

// Multiplies repeatedly, in the order of NumPy's `power`, so that powers of whole numbers are exact.
DEVICE C64 whole_power_of(C64 a, int n) {
    if (n == 1) return a;
    if (n == 2) return product_of(a, a);
    if (n == 3) return product_of(a, product_of(a, a));
    C64 made(1.0);
    for (int left = n < 0 ? -n : n;; a = product_of(a, a)) {
        if (left & 1) made = product_of(made, a);
        left >>= 1;
        if (left == 0) break;
    }
    return n < 0 ? quotient_of(C64(1.0), made) : made;
}
template <class T>
DEVICE Complex<T> power_of(Complex<T> a, Complex<T> b) {
    if (b == T(0)) return Complex<T>(T(1));
    if (a == T(0)) {
        const T part = b.re > T(0) ? T(0) : a.re / a.re;
        return Complex<T>(part, part);
    }
    if (b.im == T(0) && b.re > T(-100) && b.re < T(100) && b.re == T(int(b.re))) {
        return cast<Complex<T>>(whole_power_of(C64(a), int(b.re)));
    }
    return cast<Complex<T>>(exp_of(C64(b) * log_of(C64(a))));
}

#define COMPLEX_FUNCTION(name)                    \
    template <class T>                            \
    DEVICE Complex<T> name(Complex<T> z) {        \
        return Complex<T>(name##_of(C64(z)));     \
    }
COMPLEX_FUNCTION(sqrt)
COMPLEX_FUNCTION(exp)
COMPLEX_FUNCTION(exp2)
COMPLEX_FUNCTION(expm1)
COMPLEX_FUNCTION(log)
COMPLEX_FUNCTION(log2)
COMPLEX_FUNCTION(log10)
COMPLEX_FUNCTION(log1p)
COMPLEX_FUNCTION(sin)
COMPLEX_FUNCTION(cos)
COMPLEX_FUNCTION(tan)
COMPLEX_FUNCTION(asin)
COMPLEX_FUNCTION(acos)
COMPLEX_FUNCTION(atan)
COMPLEX_FUNCTION(sinh)
COMPLEX_FUNCTION(cosh)
COMPLEX_FUNCTION(tanh)
COMPLEX_FUNCTION(asinh)
COMPLEX_FUNCTION(acosh)
COMPLEX_FUNCTION(atanh)
#undef COMPLEX_FUNCTION

#define BY_PART(name)                             \
    template <class T>                            \
    DEVICE Complex<T> name(Complex<T> z) {        \
        return Complex<T>(name(z.re), name(z.im)); \
    }
BY_PART(floor)
BY_PART(ceil)
BY_PART(round)
BY_PART(rint)
BY_PART(trunc)
#undef BY_PART

template <class T>
DEVICE T abs(Complex<T> z) {
    return hypot(z.re, z.im);
}
template <class T>
DEVICE Complex<T> sign(Complex<T> z) {
    if (z == T(0)) return z;
    const T size = abs(z);
    return Complex<T>(z.re / size, z.im / size);
}
template <class T>
DEVICE bool isfinite(Complex<T> z) {
    return isfinite(z.re) && isfinite(z.im);
}
template <class T>
DEVICE bool isinf(Complex<T> z) {
    return isinf(z.re) || isinf(z.im);
}

template <class A, class B>
DEVICE Complex<floating<A, B>> cmplx(A a, B b) {
    typedef floating<A, B> T;
    return Complex<T>(T(a), T(b));
}
template <class A>
DEVICE counted<A> conj(A a) {
    if constexpr (is_complex<A>) return A(a.re, -a.im);
    else return a;
}
template <class A>
DEVICE part<A> real(A a) {
    return real_part(a);
}
template <class A>
DEVICE part<A> imag(A a) {
    return imaginary_part(a);
}
template <class A>
DEVICE part<floating<A>> arg(A a) {
    return atan2(part<floating<A>>(imaginary_part(a)), part<floating<A>>(real_part(a)));
}

template <class A, class B>
DEVICE common<A, B> pow(A a, B b) {
    typedef common<A, B> T;
    if constexpr (is_complex<T>) return power_of(cast<T>(a), cast<T>(b));
    else return real_power(a, b);
}

}  // namespace op
