"""What target columns become: the y of a study, in the form that an estimator takes.

============ =====================================================================================
file         idea
============ =====================================================================================
``kinds``    which kind of outcome columns are, said or found out, and the reader of each kind
``columns``  the cells of target columns, and who has a value
``labels``   one column of classes
``measured`` columns of numbers; one column of counts
``flags``    several columns of yes and no
``times``    a column of times and one of events
============ =====================================================================================
"""
