import { parse } from '@bufbuild/cel'
import { ConditionError } from './condition-error.ts'

export type Expr = NonNullable<ReturnType<typeof parse>['expr']>

/** The tree of a text, and the position of each node. */
export interface Syntax {
  readonly expr: Expr
  errorAt(id: bigint, message: string): ConditionError
}

const MAX_BYTES = 2 * 1024
const encoder = new TextEncoder()

/** Parses a text of at most 2 KiB; throws `ConditionError`. */
export function parseCondition(text: string): Syntax {
  const bytes = encoder.encode(text).length
  if (bytes > MAX_BYTES)
    throw new ConditionError(`is ${bytes} bytes long; at most ${MAX_BYTES} are allowed`, 1, 1)
  const { expr, sourceInfo } = parsed(text)
  if (!expr) throw new ConditionError('is empty', 1, 1)
  return {
    expr,
    errorAt(id, message) {
      const offset = sourceInfo?.positions[String(id)] ?? 0
      // The position of an operator includes the preceding blanks.
      const blanks = /^\s*/.exec(text.slice(offset))?.[0].length ?? 0
      return ConditionError.at(message, text, offset + blanks)
    },
  }
}

function parsed(text: string): ReturnType<typeof parse> {
  try {
    return parse(text)
  } catch (error) {
    // The parser recurses with every parenthesis and relies on the engine's limit.
    if (error instanceof RangeError) throw new ConditionError('is nested too deeply', 1, 1)
    throw located(error, text)
  }
}

interface ParserError {
  readonly rawMessage?: string
  readonly location?: { readonly start: { readonly offset: number } }
}

function located(error: unknown, text: string): ConditionError {
  const { rawMessage, location } = error as ParserError
  const message = rawMessage ?? (error instanceof Error ? error.message : 'cannot be parsed')
  return ConditionError.at(message, text, location?.start.offset ?? 0)
}
