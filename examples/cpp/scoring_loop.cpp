// A scoring job in C++: score a batch, add it to an accumulator, write a checkpoint.
//
//     scoring_loop predictions.txt scores.state
//
// Each line of the predictions is a label, 0 or 1, and a probability. If the checkpoint is there,
// whoever wrote it, the job goes on from it; Python reads what this writes, and the reverse:
//
//     calibrant.streaming.Scores.load("scores.state").result()
#include <calibrant/rows/spans.hpp>
#include <calibrant/scores/scores.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t rows_per_batch = 1000;

using calibrant::Score;

const calibrant::ScoreSet all_scores =
    calibrant::ScoreSet().with(Score::brier).with(Score::log).with(Score::spherical);

calibrant::ScoreSums load_or_begin(const std::filesystem::path& checkpoint) {
    std::ifstream file(checkpoint, std::ios::binary);
    if (!file) return {all_scores, 0.0};
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    return calibrant::restore<calibrant::ScoreSums>(bytes);  // throws if they are damaged
}

// To another name first: a crash leaves the old checkpoint or the new one. (Where the power may
// fail, too, sync the file before it is renamed, as Python's save does.)
void save(const calibrant::ScoreSums& scores, const std::filesystem::path& checkpoint) {
    const std::string bytes = scores.to_bytes();
    std::filesystem::path next = checkpoint;
    next += ".new";
    std::ofstream file(next, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + next.string());
    std::filesystem::rename(next, checkpoint);
}

void add(calibrant::ScoreSums& total, const std::vector<std::int32_t>& labels,
         const std::vector<double>& probabilities) {
    const calibrant::Column y_true = calibrant::column_of(std::span(labels));
    calibrant::Events events;
    events.y_true = &y_true;
    events.y_proba = calibrant::column_of(std::span(probabilities));
    // Aside, then merged: a batch with a bad row leaves the total as it was.
    calibrant::ScoreSums batch = total.empty();
    batch.update(events, total.count(), {});
    total.merge(batch);
}

void run(const char* predictions, const std::filesystem::path& checkpoint) {
    calibrant::ScoreSums total = load_or_begin(checkpoint);
    std::ifstream rows(predictions);
    if (!rows) throw std::runtime_error(std::string("cannot read ") + predictions);
    std::vector<std::int32_t> labels;
    std::vector<double> probabilities;
    std::int32_t label = 0;
    double probability = 0.0;
    while (rows >> label >> probability) {
        labels.push_back(label);
        probabilities.push_back(probability);
        if (labels.size() < rows_per_batch) continue;
        add(total, labels, probabilities);
        labels.clear();
        probabilities.clear();
    }
    if (!rows.eof()) {
        throw std::runtime_error(std::string(predictions) + ": a line is not a label and a number");
    }
    if (!labels.empty()) add(total, labels, probabilities);
    save(total, checkpoint);
    std::printf("%llu rows, Brier score %.17g, log score %.17g\n",
                static_cast<unsigned long long>(total.count()), total.mean(Score::brier),
                total.mean(Score::log));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: scoring_loop predictions.txt scores.state\n";
        return 2;
    }
    try {
        run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
