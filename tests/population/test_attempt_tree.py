"""The tree of attempts: who stands where, what leads to what, and what is told."""

from hypothesis import given
from hypothesis import strategies as st

from arena import GAMES
from oracle.values import Against, Attempt, Failure, Rejected, Score
from population.attempt_tree import MOST_ATTEMPTS, attempt_tree, tree_of
from population.records import Effort, Iteration, Sigma

HOSTILE = "<script>document.title='owned'</script>"


def attempt(number: int, parent: str = "", u: float | None = 1.0, kept: bool = False) -> Attempt:
    failure = None if u is not None else Failure(Rejected.FAULTY, HOSTILE)
    score = None if u is None else Score(u, 2.0, (Against("aa", u, 2.0, 22),))
    digest = "" if u is None else f"d{number}"
    return Attempt(number, parent, "", digest, score, failure, kept)


def iteration(k: int, *attempts: Attempt) -> Iteration:
    sigma = Sigma({"aa": 1.0}, 0.0, "nash")
    return Iteration(k, sigma, "", None, None, attempts, Effort(0, 0, 0.0, 0.0, 0.0))


def test_children_stand_one_column_after_their_parent() -> None:
    tried = [attempt(0, "aa"), attempt(1, "d0"), attempt(2, "d0", None), attempt(3, "d1")]
    tree = tree_of([iteration(1, *tried)])
    at = {one.attempt.number: cell for cell, one in tree.cells.items()}
    assert at == {0: (0, 0), 1: (0, 1), 3: (0, 2), 2: (1, 1)}
    assert set(tree.edges) == {((0, 0), (0, 1)), ((0, 0), (1, 1)), ((0, 1), (0, 2))}
    assert (tree.rows, tree.columns, tree.left) == (2, 3, 0)


def test_a_child_of_an_earlier_iteration_hangs_on_it() -> None:
    tree = tree_of([iteration(1, attempt(0)), iteration(2, attempt(5, "d0"))])
    assert [one.name for one in tree.cells.values()] == ["k01 attempt 0", "k02 attempt 5"]
    assert tree.edges == (((0, 0), (0, 1)),)


def test_attempts_are_listed_in_the_order_in_which_they_were_tried() -> None:
    tried = [attempt(number, "d0" if number else "aa") for number in range(12)]
    listed = tree_of([iteration(9, *tried), iteration(10, attempt(0, "d1"))]).tried
    assert [(one.k, one.attempt.number) for one in listed] == [
        *((9, n) for n in range(12)),
        (10, 0),
    ]


@given(st.lists(st.integers(-1, 30), min_size=1, max_size=MOST_ATTEMPTS + 9))
def test_every_attempt_has_a_cell_of_its_own(parents: list[int]) -> None:
    tried = [
        attempt(number, f"d{parent}" if parent < number else "aa")
        for number, parent in enumerate(parents)
    ]
    tree = tree_of([iteration(1, *tried)])
    assert len(tree.cells) == min(len(tried), MOST_ATTEMPTS)
    assert tree.left == len(tried) - len(tree.cells)
    assert all(row < tree.rows and column < tree.columns for row, column in tree.cells)
    assert all(b[1] == a[1] + 1 and b[0] >= a[0] for a, b in tree.edges)


def test_the_picture_tells_of_every_attempt_and_is_no_markup() -> None:
    tried = [attempt(0, u=40.0, kept=True), attempt(1, "d0", -3.0), attempt(2, "d0", None)]
    picture = attempt_tree(tree_of([iteration(3, *tried)]), GAMES["leduc"])
    assert "<script>" not in picture.html
    told = "\n".join(picture.told)
    assert "k03 attempt 0\nu +40.0, 95 % [32, 48] chips a match" in told and "kept" in told
    assert "k03 attempt 2\nfaulty" in told
    assert "0: +40.0" in picture.html and "1: -3.0" in picture.html and "2 ✕" in picture.html
    assert picture.document(True)["picks"] is True  # as many texts as cells, or it raises
