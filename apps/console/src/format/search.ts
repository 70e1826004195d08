type Texts<Name extends string> = { readonly [N in Name]?: string }

/** Reads the named texts in the search of an address; anything else in it is left out. */
export const readTexts =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Readonly<Record<string, unknown>>): Texts<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' && value !== '' ? [[name, value]] : []
      }),
    ) as Texts<Name>
