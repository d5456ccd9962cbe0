"""How a sentence judges its predictors: where a search begins that has to find this, and its step.

All parts of the full sentence are there from the start.  How many records speak for a predictor,
and at how many rates they are blended, is left open.
"""

from __future__ import annotations

import dataclasses
import itertools
import random

from oracle.grammar.rrps import Blend, RrpsGenome, full_genome

GAME = "rrps"
"""Where there is a choice: sentences of Leduc hold'em weigh their styles in one way only."""
VIEWS = (1, 3)
SPREADS = (1.0, 2.0, 3.0, 5.0)
"""Settings that the step draws from; the full sentence's are among them."""


def simplest() -> RrpsGenome:
    """All parts of the full sentence, with one record for each and one rate."""
    return RrpsGenome(full_genome().parts)


def judged_otherwise(genome: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """The sentence with another number of records, another spread of rates, or both."""
    here = (genome.blend.views, genome.blend.spread)
    views, spread = rng.choice([to for to in itertools.product(VIEWS, SPREADS) if to != here])
    blend: Blend = dataclasses.replace(genome.blend, views=views, spread=spread)
    return dataclasses.replace(genome, blend=blend)
