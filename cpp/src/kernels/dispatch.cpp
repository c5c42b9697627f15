#include "calibrant/runtime/isa.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

namespace kernel_tables {
extern const Kernels baseline;
#ifdef CALIBRANT_HAVE_AVX2
extern const Kernels avx2;
#endif
#ifdef CALIBRANT_HAVE_AVX512
extern const Kernels avx512;
#endif
}  // namespace kernel_tables

const Kernels& kernels() {
    switch (isa()) {
#ifdef CALIBRANT_HAVE_AVX512
        case Isa::avx512:
            return kernel_tables::avx512;
#endif
#ifdef CALIBRANT_HAVE_AVX2
        case Isa::avx2:
            return kernel_tables::avx2;
#endif
        default:
            return kernel_tables::baseline;
    }
}

}  // namespace calibrant
