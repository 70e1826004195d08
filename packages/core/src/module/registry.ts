import { endpoints as contractEndpoints } from '@remit/contract'
import { SLOTS } from '../authorize/stage.ts'
import type { Slot, Stage } from '../authorize/stage.ts'
import type { GuardChecks } from '../guard/checked.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import type { ChangeObserver, EntryObserver } from '../ledger/write/work.ts'
import type { ScorerRuns } from '../scorers/run.ts'
import type { Scorer } from '../scorers/scorer.ts'
import type { ConsolePage } from '../http/console.ts'
import type { Route } from '../http/endpoint.ts'
import type { Contribution, Module } from './module.ts'
import type { DocumentKind } from './documents.ts'
import type { Ports } from './ports.ts'
import type { StoredSecrets } from './stored-secrets.ts'

/** Two modules conflict; the server does not start. */
export class ModuleConflict extends Error {
  readonly code = 'module_conflict'
  override readonly name = 'ModuleConflict'
}

export interface Assembled {
  readonly routes: readonly Route[]
  readonly stages: ReadonlyMap<Slot, Stage>
  readonly scorers: readonly Scorer[]
  readonly scorerRuns: readonly ScorerRuns[]
  readonly guardChecks: readonly GuardChecks[]
  readonly observers: readonly EntryObserver[]
  readonly changeObservers: readonly ChangeObserver[]
  readonly documents: readonly DocumentKind[]
  readonly erasers: readonly Eraser[]
  readonly ports: Partial<Ports>
  readonly consolePages: readonly ConsolePage[]
  readonly storedSecrets: readonly StoredSecrets[]
  check(): Promise<void>
  start(): void
  settle(): Promise<void>
  close(): Promise<void>
}

interface Part {
  readonly module: Module
  readonly contribution: Contribution
}

/** Combines the contributions of all modules; throws `ModuleConflict` if two of them conflict. */
export function assemble(parts: readonly Part[]): Assembled {
  const contributions = parts.map(({ contribution }) => contribution)
  const routes = contributions.flatMap((one) => one.routes ?? [])
  const scorers = contributions.flatMap((one) => one.scorers ?? [])
  once('endpoint', routes, ({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
  const documents = contributions.flatMap((one) => one.documents ?? [])
  once('kind of document', documents, ({ kind }) => kind)
  once('scorer', scorers, ({ name }) => name)
  for (const route of routes) {
    if (contractEndpoints[route.name] !== route.endpoint)
      throw new ModuleConflict(`${route.name} is not in the contract`)
  }
  const ports: Partial<Ports> = {}
  for (const { module, contribution } of parts) {
    for (const name of Object.keys(contribution.provides ?? {})) {
      if (name in ports)
        throw new ModuleConflict(
          `${module.name} offers ${name}, which another module already offers`,
        )
    }
    Object.assign(ports, contribution.provides)
  }
  for (const { module } of parts) {
    const missing = module.requires?.filter((name) => !(name in ports)) ?? []
    if (missing.length > 0)
      throw new ModuleConflict(`${module.name} requires ${missing.join(', ')}`)
  }
  return {
    routes,
    scorers,
    scorerRuns: contributions.flatMap((one) => one.scorerRuns ?? []),
    guardChecks: contributions.flatMap((one) => one.guardChecks ?? []),
    observers: contributions.flatMap((one) => one.observers ?? []),
    changeObservers: contributions.flatMap((one) => one.changeObservers ?? []),
    documents,
    erasers: contributions.flatMap((one) => one.erasers ?? []),
    ports,
    consolePages: contributions.flatMap((one) => one.consolePages ?? []),
    stages: fill(parts),
    storedSecrets: contributions.flatMap((one) => one.storedSecrets ?? []),
    async check() {
      for (const one of contributions) await one.check?.()
    },
    start: () => contributions.forEach((one) => one.start?.()),
    async settle() {
      for (const one of contributions) await one.settle?.()
    },
    async close() {
      for (const one of contributions.toReversed()) await one.close?.()
    },
  }
}

function fill(parts: readonly Part[]): Map<Slot, Stage> {
  const stages = new Map<Slot, Stage>()
  for (const slot of SLOTS) {
    const fillers = parts.filter(({ contribution }) => contribution.stages?.[slot])
    if (fillers.length > 1) {
      throw new ModuleConflict(
        `${fillers.map(({ module }) => module.name).join(' and ')} fill the slot ${slot}`,
      )
    }
    const stage = fillers[0]?.contribution.stages?.[slot]
    if (stage) stages.set(slot, stage)
  }
  return stages
}

function once<T>(what: string, all: readonly T[], nameOf: (one: T) => string): void {
  const names = all.map(nameOf)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new ModuleConflict(`two modules define the ${what} ${twice}`)
}
