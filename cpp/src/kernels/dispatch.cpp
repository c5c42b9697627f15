#include "calibrant/runtime/isa.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

// table.cpp has them.
namespace baseline {
Kernels table();
}
namespace avx2 {
Kernels table();
}
namespace avx512 {
Kernels table();
}

const Kernels& kernels() {
    switch (isa()) {
#ifdef CALIBRANT_HAVE_AVX512
        case Isa::avx512: {
            static const Kernels table = avx512::table();
            return table;
        }
#endif
#ifdef CALIBRANT_HAVE_AVX2
        case Isa::avx2: {
            static const Kernels table = avx2::table();
            return table;
        }
#endif
        default: {
            static const Kernels table = baseline::table();
            return table;
        }
    }
}

}  // namespace calibrant
