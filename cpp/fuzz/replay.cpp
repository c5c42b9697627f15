// The main of a fuzz target where there is no libFuzzer: replays the seeds given, each with some
// damaged copies, so that targets are compiled and run with every test.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "target.hpp"

namespace {

constexpr std::size_t damaged_copies = 3;

void run(const std::string& bytes) {
    (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A folder holds files; a file holds inputs in hexadecimal digits, a line each (corpus.py).
std::vector<std::string> inputs_of(const std::filesystem::path& source) {
    std::vector<std::string> inputs;
    if (std::filesystem::is_directory(source)) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
            if (entry.is_regular_file()) inputs.push_back(content_of(entry.path()));
        }
        std::sort(inputs.begin(), inputs.end());
        return inputs;
    }
    std::istringstream lines(content_of(source));
    for (std::string line; lines >> line;) {
        std::string& bytes = inputs.emplace_back();
        for (std::size_t i = 0; i + 1 < line.size(); i += 2)
            bytes.push_back(static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16)));
    }
    return inputs;
}

}  // namespace

int main(int argc, char** argv) {
    fuzz::Numbers numbers;
    std::size_t replayed = 0;
    for (int i = 1; i < argc; ++i) {
        for (const std::string& bytes : inputs_of(argv[i])) {
            run(bytes);
            for (std::size_t k = 0; k < damaged_copies; ++k) run(fuzz::damage(bytes, numbers));
            ++replayed;
        }
    }
    std::printf("%zu inputs\n", replayed);
    return replayed > 0 ? 0 : 1;
}
