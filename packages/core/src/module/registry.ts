import { endpoints as contractEndpoints } from '@remit/contract'
import { SLOTS } from '../authorize/stage.ts'
import type { Slot, Stage } from '../authorize/stage.ts'
import type { GuardChecks } from '../guard/checked.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import type { EntryObserver } from '../ledger/write/work.ts'
import type { ScorerRuns } from '../scorers/run.ts'
import type { Scorer } from '../scorers/scorer.ts'
import type { ConsolePage } from '../http/console.ts'
import type { Route } from '../http/endpoint.ts'
import type { Contribution, Module } from './module.ts'
import type { Ports } from './ports.ts'
import type { StoredSecrets } from './stored-secrets.ts'

/** Two modules conflict; the server does not start. */
export class ModuleConflict extends Error {
  readonly code = 'module_conflict'
  constructor(message: string) {
    super(message)
    this.name = 'ModuleConflict'
  }
}

export interface Assembled {
  readonly routes: readonly Route[]
  readonly stages: ReadonlyMap<Slot, Stage>
  readonly scorers: readonly Scorer[]
  readonly scorerRuns: readonly ScorerRuns[]
  readonly guardChecks: readonly GuardChecks[]
  readonly observers: readonly EntryObserver[]
  readonly erasers: readonly Eraser[]
  readonly ports: Partial<Ports>
  readonly consolePages: readonly ConsolePage[]
  readonly storedSecrets: readonly StoredSecrets[]
  check(): Promise<void>
  start(): void
  settle(): Promise<void>
  close(): Promise<void>
}

/** Combines the contributions of all modules; throws `ModuleConflict` if two of them conflict. */
export function assemble(
  parts: readonly { readonly module: Module; readonly contribution: Contribution }[],
): Assembled {
  const routes = parts.flatMap(({ contribution }) => contribution.routes ?? [])
  const scorers = parts.flatMap(({ contribution }) => contribution.scorers ?? [])
  once(
    routes.map((route) => `${route.endpoint.method} ${route.endpoint.path}`),
    'endpoint',
  )
  once(
    scorers.map((scorer) => scorer.name),
    'scorer',
  )
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
    scorerRuns: parts.flatMap(({ contribution }) => contribution.scorerRuns ?? []),
    guardChecks: parts.flatMap(({ contribution }) => contribution.guardChecks ?? []),
    observers: parts.flatMap(({ contribution }) => contribution.observers ?? []),
    erasers: parts.flatMap(({ contribution }) => contribution.erasers ?? []),
    ports,
    consolePages: parts.flatMap(({ contribution }) => contribution.consolePages ?? []),
    stages: fill(parts),
    storedSecrets: parts.flatMap(({ contribution }) => contribution.storedSecrets ?? []),
    check: () => checkAll(parts),
    start: () => parts.forEach(({ contribution }) => contribution.start?.()),
    settle: () => settleAll(parts),
    close: () => closeAll(parts),
  }
}

function fill(
  parts: readonly { readonly module: Module; readonly contribution: Contribution }[],
): Map<Slot, Stage> {
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

function once(names: readonly string[], what: string): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new ModuleConflict(`two modules define the ${what} ${twice}`)
}

async function checkAll(parts: readonly { readonly contribution: Contribution }[]): Promise<void> {
  for (const { contribution } of parts) await contribution.check?.()
}

async function settleAll(parts: readonly { readonly contribution: Contribution }[]): Promise<void> {
  for (const { contribution } of parts) await contribution.settle?.()
}

async function closeAll(parts: readonly { readonly contribution: Contribution }[]): Promise<void> {
  for (const { contribution } of parts.toReversed()) await contribution.close?.()
}
