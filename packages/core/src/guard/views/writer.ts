import type { View, ViewName } from '../view.ts'

/** Builds a view in parts, from units of the text below. */
export class ViewWriter {
  #text = ''
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  /** Adds text that stands for [start, end) as a whole. */
  put(text: string, start: number, end: number): void {
    this.#text += text
    for (let i = 0; i < text.length; i++) {
      this.#starts.push(start)
      this.#ends.push(end)
    }
  }

  /** Starts a new line, except for the first one. */
  breakLine(): void {
    if (this.#text === '') return
    this.put('\n', this.#starts.at(-1) ?? 0, this.#ends.at(-1) ?? 0)
  }

  /** Copies the units [start, end) of `text`. */
  copy(text: string, start: number, end: number): void {
    this.#text += text.slice(start, end)
    for (let at = start; at < end; at++) {
      this.#starts.push(at)
      this.#ends.push(at + 1)
    }
  }

  view(name: ViewName): View {
    return {
      name,
      text: this.#text,
      starts: Uint32Array.from(this.#starts),
      ends: Uint32Array.from(this.#ends),
    }
  }
}

/**
 * One view per name with a line for each part, so that no number of parts displaces another view.
 */
export class ViewWriters {
  readonly #byName = new Map<ViewName, ViewWriter>()

  /** Returns the writer for another part. */
  line(name: ViewName): ViewWriter {
    const writer = this.#byName.get(name) ?? new ViewWriter()
    this.#byName.set(name, writer)
    writer.breakLine()
    return writer
  }

  views(): View[] {
    return Array.from(this.#byName, ([name, writer]) => writer.view(name))
  }
}

/** Maximum context on either side of a change. */
const CONTEXT = 200

/**
 * Returns `text` with some of its matches replaced; null if `replace` changes none. Text far from
 * any change is omitted, because another view has it.
 */
export function replaced(
  name: ViewName,
  text: string,
  pattern: RegExp,
  replace: (match: RegExpMatchArray) => string | null,
): View | null {
  let writer: ViewWriter | null = null
  let done = 0
  for (const match of text.matchAll(pattern)) {
    const instead = replace(match)
    if (instead === null) continue
    if (!writer) done = Math.max(0, match.index - CONTEXT)
    writer ??= new ViewWriter()
    if (match.index - done > 2 * CONTEXT) {
      writer.copy(text, done, done + CONTEXT)
      done = match.index - CONTEXT
      writer.put('\n', done, done + 1)
    }
    writer.copy(text, done, match.index)
    done = match.index + match[0].length
    writer.put(instead, match.index, done)
  }
  if (!writer) return null
  writer.copy(text, done, Math.min(text.length, done + CONTEXT))
  return writer.view(name)
}
