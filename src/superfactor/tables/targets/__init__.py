"""Read target columns as y, in the form that an estimator takes.

============ =====================================================================================
file         content
============ =====================================================================================
``kinds``    the kind of outcome, given or detected, and its reader
``columns``  the cells of target columns, and which samples have a value
``labels``   one column of classes
``measured`` columns of numbers; one column of counts
``flags``    several binary columns
``times``    a column of times and a column of events
============ =====================================================================================
"""
