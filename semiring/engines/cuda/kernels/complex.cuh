// Complex numbers: the values of complex64 and complex128, their arithmetic, and conversions.
//
// A number has the alignment of its parts, so arrays of other libraries need no copy, and a kernel's argument is packed
// as two floats.  Mixed operands are converted to the complex type whose parts have the common type of all parts.

#pragma once

template <class T>
struct Complex {
    T re, im;

    Complex() = default;
    DEVICE constexpr explicit Complex(T re, T im = T(0)) : re(re), im(im) {}
    template <class U>
    DEVICE constexpr explicit Complex(Complex<U> z) : re(T(z.re)), im(T(z.im)) {}
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<Complex<T>> = true;
template <class T>
constexpr bool is_signed<Complex<T>> = true;

// part: the type of the real part; joined: the type in which C++ computes with two operands, bool as int.
template <class T>
struct part_type {
    typedef choose<is_bool<T>, int, T> type;
};
template <class T>
struct part_type<Complex<T>> {
    typedef T type;
};
template <class T>
using part = typename part_type<T>::type;

template <bool COMPLEX, class T>
struct complex_type {
    typedef T type;
};
template <class T>
struct complex_type<true, T> {
    typedef Complex<T> type;
};
template <class A, class B>
using joined =
    typename complex_type<is_complex<A> || is_complex<B>, decltype(true ? part<A>() : part<B>())>::type;

template <class T>
DEVICE T real_part(Complex<T> z) {
    return z.re;
}
template <class T>
DEVICE T real_part(T x) {
    return x;
}
template <class T>
DEVICE T imaginary_part(Complex<T> z) {
    return z.im;
}
template <class T>
DEVICE T imaginary_part(T) {
    return T(0);
}

template <class T>
DEVICE Complex<T> sum_of(Complex<T> a, Complex<T> b) {
    return Complex<T>(a.re + b.re, a.im + b.im);
}
template <class T>
DEVICE Complex<T> difference_of(Complex<T> a, Complex<T> b) {
    return Complex<T>(a.re - b.re, a.im - b.im);
}
template <class T>
DEVICE Complex<T> product_of(Complex<T> a, Complex<T> b) {
    return Complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
// R. L. Smith, "Algorithm 116: Complex division" (1962): |b|^2, which may overflow, is not computed.  By 0, both parts are
// divided by 0.
template <class T>
DEVICE Complex<T> quotient_of(Complex<T> a, Complex<T> b) {
    const T re = b.re > T(0) ? b.re : T(0) - b.re, im = b.im > T(0) ? b.im : T(0) - b.im;
    if (re >= im) {
        if (re == T(0) && im == T(0)) return Complex<T>(a.re / re, a.im / re);
        const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
        return Complex<T>((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
    return Complex<T>((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}
template <class T>
DEVICE bool are_equal(Complex<T> a, Complex<T> b) {
    return a.re == b.re && a.im == b.im;
}

// The operand as a number of the complex type C.
template <class C, class A>
DEVICE C as_complex(A a) {
    return C(part<C>(real_part(a)), part<C>(imaginary_part(a)));
}

#define COMPLEX_OPERATOR(symbol, function)                              \
    template <class A, class B>                                         \
    DEVICE auto operator symbol(Complex<A> a, Complex<B> b) {           \
        typedef joined<Complex<A>, Complex<B>> C;                       \
        return function(as_complex<C>(a), as_complex<C>(b));            \
    }                                                                   \
    template <class A, class B>                                         \
    DEVICE auto operator symbol(Complex<A> a, B b) {                    \
        typedef joined<Complex<A>, B> C;                                \
        return function(as_complex<C>(a), as_complex<C>(b));            \
    }                                                                   \
    template <class A, class B>                                         \
    DEVICE auto operator symbol(A a, Complex<B> b) {                    \
        typedef joined<A, Complex<B>> C;                                \
        return function(as_complex<C>(a), as_complex<C>(b));            \
    }
COMPLEX_OPERATOR(+, sum_of)
COMPLEX_OPERATOR(-, difference_of)
COMPLEX_OPERATOR(*, product_of)
COMPLEX_OPERATOR(/, quotient_of)
COMPLEX_OPERATOR(==, are_equal)
COMPLEX_OPERATOR(!=, !are_equal)
#undef COMPLEX_OPERATOR
template <class T>
DEVICE Complex<T> operator-(Complex<T> z) {
    return Complex<T>(-z.re, -z.im);
}
