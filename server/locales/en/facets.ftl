### What sets affected nodes apart from others.

facets-title = What affected nodes have in common
facets-nodes = Nodes
facets-of-nodes =
    { $count ->
        [one] { $count } node looked at
       *[other] { $count } nodes looked at
    }
facets-of-simulated =
    { $count ->
        [one] { $count } simulated node looked at
       *[other] { $count } simulated nodes looked at
    }
facets-tries =
    { $count ->
        [one] { $count } comparison made
       *[other] { $count } comparisons made
    }
facets-computed = computed { $at }, anew after 5 minutes
facets-association = Association, not cause; starts no action.
facets-means = The table names versions and settings that affected nodes have at least twice as often as other nodes of their model. It says where to look, and not what is at fault.
facets-without-rack =
    { $count ->
        [one] { $count } of { $nodes } nodes has no label { $label }, so it is in no known rack. A version or setting is not told of unless affected nodes that have it are in two racks or more.
       *[other] { $count } of { $nodes } nodes have no label { $label }, so they are in no known rack. A version or setting is not told of unless affected nodes that have it are in two racks or more.
    }
facets-are-more = There are more nodes than were looked at.
facets-only = Only:
facets-all = all that is wrong
facets-wrong = What is wrong
facets-slower = Slower than other nodes of the model:
facets-facet = What they have
facets-with = Affected, of nodes with it
facets-without = Affected, of nodes without it
facets-racks = Racks
facets-chance = By chance
facets-chance-means = By chance: how likely as much or more is within racks and models if neither had to do with the other (Fisher's exact test), times the number of comparisons.
facets-lists-mean = Lists of nodes show how nodes are now, so their counts may differ from those above.
facets-list-affected = all affected nodes
facets-list-affected-with = affected nodes with it
facets-list-with = all nodes with it
facets-some-of = { $some } of { $all }
facets-part-driver = driver
facets-part-gpu = GPU
facets-part-link = links
facets-part-fabric = fabric manager
facets-part-host = host
facets-no-nodes = No node has told of its versions and settings, so nothing was compared.
facets-nothing-tried = Nothing was compared: it takes at least five nodes with the same fault, and a version or setting that some nodes have and others of their model have not.
facets-no-racks = Nothing can be told: no node is in a known rack, and it takes affected nodes of two racks.
facets-nothing-about = Nothing stands out of what these affected nodes have. They may have something in common all the same: it takes five affected nodes in two racks.
facets-nothing-apart = No version or setting stands out. Nodes may have faults all the same: the list of nodes says which.
facets-no-more = There are no more rows.
facets-next = Next page
facets-simulated = Simulated nodes
facets-real = Real nodes
