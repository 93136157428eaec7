-- What a run warned of is open until a run sees the same again. A warning that stands for its node was not kept as open before.

UPDATE report SET open_causes = json_array('report:' || id)
WHERE weight = 'proof' AND verdict = 'degraded' AND open_causes IS NULL
    AND (node_id, id) IN (SELECT n.id, n.proof_report FROM node n);
