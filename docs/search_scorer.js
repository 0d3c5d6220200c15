// The scores of the search: Sphinx's, then by the kind of page.  docs/check_search.py tests the order of results.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score: ([page, title, anchor, description, score, file, kind]) => {
    // An entry of the index that contains the query is a weak match, unless it is the query.
    if (kind === "index" && score < 100) return score / 10;
    if (kind === "object" || kind === "index") return score;
    if (/^decisions\//.test(page)) return score * 0.2;
    // The pages of "Background" in index.md, and results without text of their own.
    if (/^(architecture|performance|papers|distributed_internals|ordering|reliability|algorithms\/proofs|api\/)/.test(page)) return score * 0.5;
    return score;
  },
};
