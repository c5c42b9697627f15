// The main of a fuzz target where there is no libFuzzer: replays all files below the folders
// given, each with some damaged copies, so that targets are compiled and run by every test.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "target.hpp"

namespace {

constexpr std::size_t damaged_copies = 20;

void run(const std::string& bytes) {
    (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::vector<std::filesystem::path> files_below(const char* folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    fuzz::Numbers numbers;
    std::size_t replayed = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& path : files_below(argv[i])) {
            std::ifstream file(path, std::ios::binary);
            const std::string bytes((std::istreambuf_iterator<char>(file)), {});
            run(bytes);
            for (std::size_t k = 0; k < damaged_copies; ++k) run(fuzz::damage(bytes, numbers));
            ++replayed;
        }
    }
    std::printf("%zu files\n", replayed);
    return replayed > 0 ? 0 : 1;
}
