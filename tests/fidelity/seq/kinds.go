package seq

import "slices"

// Kinds is the table that Generate draws from.
var Kinds = slices.Concat(
	variableKinds(), modeKinds(), charsetKinds, userVariableKinds,
	schemaKinds, trxKinds, writeKinds, idKinds, diagKinds, lockKinds, temporaryKinds,
	preparedKinds, commandKinds, readKinds, failureKinds,
)

// one makes a kind of one step out of several to choose from.
func one(name string, weight int, steps ...Step) Kind {
	return Kind{name, weight, func(g *Gen) []Step { return []Step{pick(g, steps...)} }}
}

// all makes a kind whose steps come in this order.
func all(name string, weight int, steps ...Step) Kind {
	return Kind{name, weight, func(*Gen) []Step { return slices.Clone(steps) }}
}

// texts makes steps of texts.
func texts(list ...string) []Step {
	steps := make([]Step, len(list))
	for i, text := range list {
		steps[i] = q(text)
	}
	return steps
}

// tables makes steps of texts that touch a table.
func tables(list ...string) []Step {
	steps := texts(list...)
	for i := range steps {
		steps[i].table = true
	}
	return steps
}
