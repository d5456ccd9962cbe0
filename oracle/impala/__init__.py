"""An oracle that trains a network: IMPALA (Espeholt et al. 2018, arXiv:1802.01561).

The baseline PSRO-IMPALA of the CSRO paper.  Only `training`, what it is told, can be imported
without PyTorch (`pip install "policy-arena[rl]"`).
"""
