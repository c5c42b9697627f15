// Objects of the core that Python threads share, where no GIL keeps these apart.
//
// locked(f) is f, called while the objects of the core among its arguments are its alone. With a
// GIL it is f itself. Without, a critical section of Python holds them from the call to the
// return; as the GIL, it is given up while the thread waits or is GilReleased, so that no two calls
// can wait for each other, and a function that is safe under the GIL is safe in it.
#pragma once

#include <pybind11/pybind11.h>

#include <concepts>
#include <type_traits>
#include <utility>

#ifdef Py_GIL_DISABLED
#include <pybind11/critical_section.h>

#include <functional>
#endif

namespace calibrant::bindings {

namespace py = pybind11;

#ifdef Py_GIL_DISABLED

// An argument of type T, a reference or a pointer to an object of the core, and what Python has
// it in: nothing where it was None.
template <class T>
struct LockedArgument {
    T value;
    py::handle object;
};

template <class T>
concept OfCore = (std::is_reference_v<T> || std::is_pointer_v<T>) &&
                 std::derived_from<py::detail::make_caster<T>, py::detail::type_caster_generic>;

template <class T>
using Passed = std::conditional_t<OfCore<T>, LockedArgument<T>, T>;

template <class... Arguments>
class CriticalSection {
public:
    explicit CriticalSection(const Arguments&... arguments)
        : CriticalSection(objects_of(arguments...)) {}

private:
    struct Objects {
        py::handle of[2];
        int n = 0;
    };
    explicit CriticalSection(const Objects& objects) : section_(objects.of[0], objects.of[1]) {}

    template <class T>
    static void add(Objects&, const T&) {}
    template <class T>
    static void add(Objects& objects, const LockedArgument<T>& argument) {
        if (argument.object) objects.of[objects.n++] = argument.object;
    }
    static Objects objects_of(const Arguments&... arguments) {
        Objects objects;
        (add(objects, arguments), ...);
        return objects;
    }

    py::scoped_critical_section section_;
};

template <class T>
T value_of(std::remove_reference_t<Passed<T>>& argument) {
    if constexpr (OfCore<T>) {
        return argument.value;
    } else {
        return std::forward<T>(argument);
    }
}

// What f returns a reference to is copied before others may change it.
template <class Function, class Return, class... Arguments>
auto locked_as(Function f, Return (*)(Arguments...)) {
    static_assert((0 + ... + int{OfCore<Arguments>}) <= 2, "a critical section is of two at most");
    return [f](Passed<Arguments>... arguments) -> std::decay_t<Return> {
        const CriticalSection<std::remove_cvref_t<Passed<Arguments>>...> locked(arguments...);
        return std::invoke(f, value_of<Arguments>(arguments)...);
    };
}

template <class Return, class Class, class... Arguments, bool none>
auto locked(Return (Class::*f)(Arguments...) noexcept(none)) {
    return locked_as(f, static_cast<Return (*)(Class&, Arguments...)>(nullptr));
}
template <class Return, class Class, class... Arguments, bool none>
auto locked(Return (Class::*f)(Arguments...) const noexcept(none)) {
    return locked_as(f, static_cast<Return (*)(const Class&, Arguments...)>(nullptr));
}
template <class Return, class... Arguments, bool none>
auto locked(Return (*f)(Arguments...) noexcept(none)) {
    return locked_as(f, static_cast<Return (*)(Arguments...)>(nullptr));
}
template <class Lambda>
    requires std::is_class_v<Lambda>
auto locked(Lambda f) {
    return locked_as(f, static_cast<py::detail::function_signature_t<Lambda>*>(nullptr));
}

#else

template <class Function>
Function locked(Function f) {
    return f;
}

#endif

// A class of Python all of whose methods are held.
template <class T>
class LockedClass : public py::class_<T> {
    using Base = py::class_<T>;

public:
    using Base::Base;

    template <class Function, class... Extra>
    LockedClass& def(const char* name, Function f, const Extra&... extra) {
        Base::def(name, locked(f), extra...);
        return *this;
    }
    // A constructor: nobody has the object yet.
    template <class Init, class... Extra>
        requires(!std::convertible_to<Init, const char*>)
    LockedClass& def(Init&& init, const Extra&... extra) {
        Base::def(std::forward<Init>(init), extra...);
        return *this;
    }
    template <class Function, class... Extra>
    LockedClass& def_static(const char* name, Function f, const Extra&... extra) {
        Base::def_static(name, locked(f), extra...);
        return *this;
    }
    template <class Function, class... Extra>
    LockedClass& def_property_readonly(const char* name, Function f, const Extra&... extra) {
        Base::def_property_readonly(name, locked(f), extra...);
        return *this;
    }
};

}  // namespace calibrant::bindings

#ifdef Py_GIL_DISABLED

namespace pybind11::detail {

template <class T>
struct type_caster<calibrant::bindings::LockedArgument<T>> {
    using Argument = calibrant::bindings::LockedArgument<T>;

    static constexpr auto name = make_caster<T>::name;
    template <class>
    using cast_op_type = Argument;

    bool load(handle from, bool convert) {
        if (!from.is_none()) object_ = from;
        return value_.load(from, convert);
    }
    explicit operator Argument() { return {cast_op<T>(value_), object_}; }

private:
    make_caster<T> value_;
    handle object_;
};

}  // namespace pybind11::detail

#endif
