/** How one member of a body is typed in a form, and read from it. */
interface Member<Value, Typed> {
  /** In the form of a new object. */
  readonly empty: Typed
  typed(value: Value): Typed
  /** `stored` is the value that the form began with. Undefined leaves the member out. */
  value(typed: Typed, stored: Value | undefined): Value | undefined
}

/** All members that a body must have. Those that the form does not show may be left out if they are optional. */
type Members<Input> = {
  readonly [Name in keyof Input]: Member<Exclude<Input[Name], undefined>, unknown>
}

/** The members of a form as they are typed. */
type DraftOf<M, Input> = {
  readonly [Name in keyof M]: M[Name] extends { readonly empty: infer Typed } ? Typed : never
} & {
  /** The stored object, for members that the form does not show. */
  readonly kept: Partial<Input>
}

/** The drafts of one kind of object, from a table of its members. */
export interface Drafts<Stored, Input, Draft> {
  /** The draft of a new object. */
  readonly empty: Draft
  readonly draftOf: (stored: Stored) => Draft
  /** The body of the API. Equal drafts have equal texts. */
  readonly inputOf: (draft: Draft) => Input
}

export const draftsOf =
  <Stored extends object, Input extends object>() =>
  <M extends Members<Input>>(members: M): Drafts<Stored, Input, DraftOf<M, Input>> => {
    const table = Object.entries<Member<unknown, unknown>>(members as never)
    const each = (valueOf: (name: string, member: Member<unknown, unknown>) => unknown) =>
      Object.fromEntries(table.map(([name, member]) => [name, valueOf(name, member)]))
    type Values = Readonly<Record<string, unknown>>
    return {
      empty: { ...each((_, { empty }) => empty), kept: {} } as never,
      draftOf: (stored) =>
        ({
          ...each((name, member) => member.typed((stored as Values)[name])),
          kept: keptOf(stored),
        }) as never,
      inputOf: (draft) =>
        ({
          ...draft.kept,
          ...each((name, member) =>
            member.value((draft as Values)[name], (draft.kept as Values)[name]),
          ),
        }) as Input,
    }
  }

/** A value that the field of the form takes as it is. */
export const same = <Value>(empty: Value): Member<Value, Value> => ({
  empty,
  typed: (value) => value,
  value: (typed) => typed,
})

/** A text; a blank one is null. */
export const text: Member<string | null, string> = {
  empty: '',
  typed: (value) => value ?? '',
  value: (typed) => (typed.trim() === '' ? null : typed),
}

/** A list of texts, one a line, without blank ones. */
export const lines = (empty: string): Member<string[], string> => ({
  empty,
  typed: (value) => value.join('\n'),
  value: linesOf,
})

export const number = (empty: string): Member<number, string> => ({
  empty,
  typed: String,
  value: numberOf,
})

/** A member that is left out where its field is empty: the server has the value. */
export const optional = <Value, Typed>(
  member: Member<Value, Typed>,
): Member<Value, Typed | ''> => ({
  empty: '',
  typed: (value) => member.typed(value),
  value: (typed, stored) =>
    String(typed).trim() === '' ? undefined : member.value(typed as Typed, stored),
})

/** The lines of a text, without blank ones. */
export function linesOf(typed: string): string[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The number that a text is. Another text is sent as it is, and the server names the field. */
export function numberOf(typed: string): number {
  const value = Number(typed)
  return typed.trim() === '' || Number.isNaN(value) ? (typed as never) : value
}

/** Members that the server adds to what was stored. */
const MADE = new Set([
  'id',
  'agent_id',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  'revision',
  'warnings',
  'ledger',
  'spent',
  'usage',
  'keys',
  'has_client_secret',
  'redirect_uri',
])

/**
 * The members of a stored object that its next version starts with, so that a form which replaces the object
 * drops none that it does not show.
 */
export const keptOf = <Input extends object>(stored: object): Partial<Input> =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => !MADE.has(name))) as Partial<Input>

/** A stored rule, and what names its version in `If-Match`. */
export interface Version<Rule> {
  readonly rule: Rule
  readonly etag: string
}

/** Reads a rule with its version. */
export async function versionOf<Rule>(
  answer: Promise<{ readonly data: Rule; readonly headers: Headers }>,
): Promise<Version<Rule>> {
  const { data, headers } = await answer
  return { rule: data, etag: headers.get('etag') ?? '' }
}
