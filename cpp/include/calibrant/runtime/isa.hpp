// Which instruction set the kernels use. Every kernel exists once per set, from one
// source and without contraction, so the choice changes the speed and never a bit.
//
// Chosen once: the best that the processor, the operating system and this build
// support, or the one named by the environment variable CALIBRANT_ISA. A name that is
// unknown or not supported here is an error, never a silent fallback: a test run that
// believes it covers AVX2 must cover AVX2.
#pragma once

#include <string_view>
#include <vector>

namespace calibrant {

enum class Isa {
    baseline,  // whatever the compiler targets by default; the only one beyond x86-64
    avx2,      // AVX2 and FMA
    avx512,    // that, and AVX-512 F, DQ, VL and BW
};

const char* name(Isa isa);

// From narrow to wide; always starts with baseline.
std::vector<Isa> available_isas();

// Throws std::invalid_argument, with the choices, if the name is not one of available_isas().
Isa isa_from_name(std::string_view name);

// The one in force. Throws std::invalid_argument if CALIBRANT_ISA is wrong; a program
// that has called it once successfully need not expect that again.
Isa isa();

// "CPU", "CALIBRANT_ISA" or "set_isa".
const char* isa_source();

// For tests: overrides the choice, for all threads, from the next kernel call on.
// Throws std::invalid_argument if it is not available.
void set_isa(Isa isa);

}  // namespace calibrant
