// Objects of the core that Python threads share, and signal handlers might use.
//
// locked(f) is f, called where none of the objects of the core among its arguments is in use by
// this thread (in_use.hpp); those that it takes by a reference or pointer to non-const are in use
// by it until it returns. Without a GIL, a critical section of Python also keeps other threads away
// from these objects. As the GIL, it is given up while the thread waits or is GilReleased, so that
// no two calls can wait for each other, and a function that is safe under the GIL is safe in it.
#pragma once

#include "bindings/runtime/in_use.hpp"

#include <pybind11/pybind11.h>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#ifdef Py_GIL_DISABLED
#include <pybind11/critical_section.h>
#endif

namespace calibrant::bindings {

namespace py = pybind11;

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

// The address of an argument of type T if it is an object of the core that is, or is not, const.
template <class T, bool is_const>
const void* object_of_core(const std::remove_reference_t<T>& argument) {
    if constexpr (!OfCore<T>) {
        return nullptr;
    } else if constexpr (std::is_pointer_v<std::remove_reference_t<T>>) {
        return std::is_const_v<std::remove_pointer_t<T>> == is_const ? argument : nullptr;
    } else {
        return std::is_const_v<std::remove_reference_t<T>> == is_const ? &argument : nullptr;
    }
}

// f, where none of its arguments of the core is in use, and those that it may change are then.
template <class... Arguments, class Function>
decltype(auto) use(Function& f, std::remove_reference_t<Arguments>&... arguments) {
    (require_not_in_use(object_of_core<Arguments, true>(arguments)), ...);
    (require_not_in_use(object_of_core<Arguments, false>(arguments)), ...);
    const InUse in_use[] = {InUse(nullptr), InUse(object_of_core<Arguments, false>(arguments))...};
    return std::invoke(f, std::forward<Arguments>(arguments)...);
}

#ifdef Py_GIL_DISABLED

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
decltype(auto) value_of(std::remove_reference_t<Passed<T>>& argument) {
    if constexpr (OfCore<T>) {
        return (argument.value);
    } else {
        return (argument);
    }
}

// What f returns a reference to is copied before others may change it.
template <class Function, class Return, class... Arguments>
auto locked_as(Function f, Return (*)(Arguments...)) {
    static_assert((0 + ... + int{OfCore<Arguments>}) <= 2, "a critical section is of two at most");
    return [f](Passed<Arguments>... arguments) -> std::decay_t<Return> {
        const CriticalSection<std::remove_cvref_t<Passed<Arguments>>...> locked(arguments...);
        return use<Arguments...>(f, value_of<Arguments>(arguments)...);
    };
}

#else

template <class Function, class Return, class... Arguments>
auto locked_as(Function f, Return (*)(Arguments...)) {
    return [f](Arguments... arguments) -> std::decay_t<Return> {
        return use<Arguments...>(f, arguments...);
    };
}

#endif

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
