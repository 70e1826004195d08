import type { PropertyResult, PropertySpec } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import { decide, judge } from '@remit/core/decision'
import type { Ask, Overlay } from '@remit/core/decision'
import type { Job } from '@remit/core/threads'
import { compileCondition } from '../rules/condition.ts'
import type { Condition } from '../rules/condition.ts'
import { factsOf } from '../rules/facts.ts'
import { casesOf } from './cases.ts'
import type { Case } from './cases.ts'
import type { Members } from './facts.ts'
import { RuleStages } from './rules.ts'
import type { StoredRules } from './rules.ts'
import { spaceOf } from './space.ts'
import type { Choice, Space } from './space.ts'

/** A property with its name. */
export interface NamedProperty {
  readonly name: string
  readonly spec: PropertySpec
}

export interface SearchInput {
  readonly orgId: string
  readonly rules: StoredRules
  readonly overlay: Overlay
  /** Names of the policies that the overlay adds. */
  readonly added: readonly string[]
  readonly properties: readonly NamedProperty[]
  /** The time of the search, milliseconds. */
  readonly now: number
  /** Milliseconds for one property, and for all. */
  readonly eachMs: number
  readonly allMs: number
}

/** Searches for a counterexample of each property; a part is the result of one. */
export const searchJob: Job<SearchInput, PropertyResult> = {
  name: 'search',
  run({ orgId, rules, overlay, added, properties, now, eachMs, allMs }, tell) {
    const until = performance.now() + allMs
    const stages = new RuleStages(rules, overlay, added)
    for (const [i, property] of properties.entries()) {
      const began = performance.now()
      // Each has its share of the time that is left.
      const share = (until - began) / (properties.length - i)
      const deadline = began + Math.min(eachMs, share)
      tell(new Search(orgId, stages, property, now, deadline).result())
    }
  },
}

const RULES_ONLY =
  'only policies, permissions and approval rules are searched, not spend limits, rejected approvals, or the state of agents'
const OUT_OF_TIME = 'the time for the search is over'
const MAX_REASONS = 20
const CASES_A_LOOK = 64

/** The search for a request of one property that gets the decision that none should get. */
export class Search {
  readonly #orgId: string
  readonly #stages: RuleStages
  readonly #property: NamedProperty
  readonly #now: number
  readonly #deadline: number
  readonly #when: Condition | null
  /** Ends conditions that compute beyond the deadline, which then decide nothing. */
  readonly #meter = { isOver: () => this.#isOver }
  #seenOver = false

  constructor(
    orgId: string,
    stages: RuleStages,
    property: NamedProperty,
    now: number,
    deadline: number,
  ) {
    this.#orgId = orgId
    this.#stages = stages
    this.#property = property
    this.#now = now
    this.#deadline = deadline
    const { when } = property.spec.for
    this.#when = when === undefined ? null : compileCondition(when)
  }

  result(): PropertyResult {
    const { name, spec } = this.#property
    const { granted, registry } = this.#stages.authority
    const space = spaceOf({
      scope: spec.for,
      rules: this.#stages.about(spec.for),
      granted,
      agents: [...registry.keys()],
      now: this.#now,
      askWith: (context) => this.#ask('x', 'x', null, context, this.#now),
      isOver: this.#meter.isOver,
    })
    const { of, isWhole, cases } = casesOf(space, spec.max_cases, this.#meter.isOver)
    const because = [...space.gaps]
    let [decided, meant] = [0, 0]
    let found: Request | null = null
    for (const one of cases) {
      if (decided >= spec.max_cases || (decided % CASES_A_LOOK === 0 && this.#isOver)) break
      const request = requestOf(one)
      const said = this.#decide(request)
      if (this.#seenOver) break
      decided++
      if (said !== null) meant++
      if (said !== spec.never) continue
      found = this.#shrunk(request, space)
      break
    }
    if (this.#seenOver) because.push(OUT_OF_TIME)
    else if (!isWhole) because.push(`${of} requests differ, and ${decided} of them were decided`)
    if (found === null && meant === 0) because.push('no request was found that `for` is about')
    const isProved = isWhole && space.gaps.length === 0 && !this.#seenOver
    const notes = spec.never === 'deny' ? [RULES_ONLY] : []
    return {
      name,
      result: found ? 'violated' : isProved ? 'proved' : 'searched',
      require: spec.require,
      cases: decided,
      of,
      because: [...(found ? [] : because.slice(0, MAX_REASONS)), ...notes],
      counterexample: found && {
        agent_id: found.agent,
        action: found.action,
        resource: found.resource,
        context: Object.fromEntries(found.context),
        at: isoTime(found.at),
      },
    }
  }

  get #isOver(): boolean {
    this.#seenOver ||= performance.now() > this.#deadline
    return this.#seenOver
  }

  /** The decision on a request; null if the property is not about it. */
  #decide({ agent, action, resource, context, at }: Request): string | null {
    const ask = this.#ask(agent, action, resource, Object.fromEntries(context), at)
    ask.agent = this.#stages.authority.registry.get(agent)?.attributes
    if (this.#when && this.#when.evaluate(factsOf(ask), this.#meter) !== true) return null
    const judged = judge(ask, this.#stages.slots)
    this.#stages.asked(ask, judged.matched?.get('approval_rule'))
    return decide(ask, this.#stages.slots, judged).decision
  }

  #ask(
    agentId: string,
    action: string,
    resource: string | null,
    context: Readonly<Record<string, unknown>>,
    now: number,
  ): Ask {
    return {
      orgId: this.#orgId,
      plan: 'enterprise',
      decisionId: 'dec_preview',
      caller: null,
      request: { agent_id: agentId, action, context, ...(resource !== null && { resource }) },
      claims: {},
      resource,
      now,
      meter: this.#meter,
    }
  }

  /** The request without what is not needed for its decision, and with the shortest names. */
  #shrunk(request: Request, { agents, actions, resources }: Space): Request {
    const { never } = this.#property.spec
    let least = request
    const attempt = (other: Request): boolean => {
      const isSame = !this.#isOver && this.#decide(other) === never && !this.#seenOver
      if (isSame) least = other
      return isSame
    }
    for (const agent of shorter(agents, least.agent)) if (attempt({ ...least, agent })) break
    for (const action of shorter(actions, least.action)) if (attempt({ ...least, action })) break
    for (const resource of shorter(resources, least.resource))
      if (attempt({ ...least, resource })) break
    if (least.at !== this.#now) attempt({ ...least, at: this.#now })
    for (const [key] of request.context)
      attempt({ ...least, context: least.context.filter(([other]) => other !== key) })
    for (let isSmaller = true; isSmaller;)
      isSmaller = smaller(least.context).some((context) => attempt({ ...least, context }))
    return least
  }
}

interface Request extends Omit<Case, 'context'> {
  readonly context: Members
}

const requestOf = ({ context, ...names }: Case): Request => ({ ...names, context: context.flat() })

/** The values that are shorter than another one, the shortest first. */
const shorter = <T extends string | null>(choices: readonly Choice<T>[], than: T): T[] =>
  choices
    .map(({ value }) => value)
    .filter((value) => lengthOf(value) < lengthOf(than))
    .toSorted((a, b) => lengthOf(a) - lengthOf(b))

const lengthOf = (name: string | null): number => name?.length ?? 0

/** The contexts with one member of a map less. */
function smaller(context: Members): Members[] {
  return context
    .flatMap(([key, value], i) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? smaller(Object.entries(value)).map((map) =>
            context.with(i, [key, Object.fromEntries(map)]),
          )
        : [],
    )
    .concat(context.length > 0 ? context.map((_, i) => context.toSpliced(i, 1)) : [])
}
