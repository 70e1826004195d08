import type { PureScorer } from '../scorer.ts'
import * as json from './json.ts'
import * as matches from './matches.ts'
import * as safety from './safety.ts'
import * as similarity from './similarity.ts'
import * as trajectories from './trajectories.ts'
import * as values from './values.ts'

/** The open scorers: every export of these files, by name. Modules add more. */
export const builtInScorers: readonly PureScorer[] = [
  json,
  matches,
  safety,
  similarity,
  trajectories,
  values,
]
  .flatMap((scorers) => Object.values<PureScorer>({ ...scorers }))
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))
