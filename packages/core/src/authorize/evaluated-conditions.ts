import type { AuthorizeRequest } from '@remit/contract'
import type { Ask } from './stage.ts'

export type ConditionResult = boolean | 'error'

/** Conditions to evaluate for one request, by text, in the order in which rules need them. */
export interface WantedConditions {
  readonly ask: Ask
  readonly texts: readonly string[]
}

/** The results of the leading texts: after a true one, the others may not be needed. */
export interface ConditionResults {
  readonly results: readonly ConditionResult[]
  /** Milliseconds of computing. */
  readonly computedMs: number
  /** The conditions of the request exceed their time limit. */
  readonly isOver: boolean
}

// Limits of one message to a thread; further texts come in the next round.
const MAX_TEXTS = 64
const MAX_CHARACTERS = 64 * 1024

/** May be true too often: the word can occur in a text. */
const readsTime = (text: string): boolean => /\bnow\b/.test(text)

// The separator cannot occur in an agent id.
const keyOf = ({ request, reading = -1 }: Ask, text: string): string =>
  `${request.agent_id}\n${reading}\n${text}`

/**
 * Results of the conditions of one request that a thread evaluated before the transaction. A result
 * depends on the request, the attributes of its agent and, if the condition reads `now`, on the time;
 * not on the rule.
 */
export class EvaluatedConditions {
  /** The time for which the conditions were evaluated, milliseconds. */
  readonly at: number
  readonly #known = new Map<string, ConditionResult>()
  #missing: Map<Ask, Set<string>> | null = null
  #isOver = false

  constructor(at: number) {
    this.at = at
  }

  /** The conditions exceeded their time limit. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns the known result of a condition, or evaluates it now. */
  of(ask: Ask, text: string, evaluate: () => ConditionResult): ConditionResult {
    const isValid = ask.now === this.at || !readsTime(text)
    const known = isValid ? this.#known.get(keyOf(ask, text)) : undefined
    if (known !== undefined) return known
    if (!this.#missing) return evaluate()
    const texts = this.#missing.get(ask) ?? new Set<string>()
    this.#missing.set(ask, texts.add(text))
    // Most rules do not match; if this one does, the next round continues after it.
    return false
  }

  /** Returns the conditions without a result that `run` asks for; empty after the time limit. */
  missing(run: () => void): readonly WantedConditions[] {
    if (this.#isOver) return []
    const missing = new Map<Ask, Set<string>>()
    this.#missing = missing
    try {
      run()
    } finally {
      this.#missing = null
    }
    return [...missing].map(([ask, texts]) => ({ ask, texts: leading([...texts]) }))
  }

  keep({ ask, texts }: WantedConditions, { results, isOver }: ConditionResults): void {
    for (const [i, result] of results.entries()) {
      const text = texts[i]
      if (text !== undefined) this.#known.set(keyOf(ask, text), result)
    }
    this.#isOver ||= isOver
  }
}

function leading(texts: readonly string[]): readonly string[] {
  let characters = 0
  const end = texts.findIndex((text, i) => {
    characters += text.length
    return i > 0 && (i >= MAX_TEXTS || characters > MAX_CHARACTERS)
  })
  return end === -1 ? texts : texts.slice(0, end)
}

/** The leading requests of a batch with evaluated conditions, for one version of the rules. */
export interface EvaluatedBatch {
  readonly version: number
  /** By request: the transaction creates each `Ask` anew. */
  readonly requests: ReadonlyMap<AuthorizeRequest, EvaluatedConditions>
  /** Milliseconds that the threads computed. */
  readonly computedMs: number
}
