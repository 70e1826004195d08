/** A syntax or type error of a condition with its position; line and column start at 1. */
export class ConditionError extends Error {
  readonly line: number
  readonly column: number

  constructor(message: string, line: number, column: number) {
    super(message)
    this.name = 'ConditionError'
    this.line = line
    this.column = column
  }

  /** The error at an offset of the text, in UTF-16 units. */
  static at(message: string, text: string, offset: number): ConditionError {
    const before = text.slice(0, offset).split('\n')
    return new ConditionError(message, before.length, (before.at(-1)?.length ?? 0) + 1)
  }
}
