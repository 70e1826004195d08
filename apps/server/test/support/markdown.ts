/** One row of a table, or one item of a list as `term (detail): text`. */
export interface Item {
  readonly term: string
  readonly detail: string
  readonly text: string
}

const ITEM = /^- ((?:`[^`]*`|[^`(:])+?)(?: \((.*?)\))?(?:: (.*))?$/

/** The items of a page's lists, each on one line, and the rows of its tables. */
export function itemsOf(markdown: string): Item[] {
  const lines = markdown.replaceAll(/\n {2}(?! *- )(?=\S)/g, ' ').split('\n')
  return lines.flatMap((line) => {
    if (line.startsWith('|')) {
      const [term = '', ...cells] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
      return [{ term, detail: cells.slice(0, -1).join(', '), text: cells.at(-1) ?? '' }]
    }
    const [, term, detail = '', text = ''] = ITEM.exec(line) ?? []
    return term === undefined ? [] : [{ term, detail, text }]
  })
}

/** The terms of all items, without the marks of code. */
export const termsOf = (markdown: string): string[] =>
  itemsOf(markdown).map(({ term }) => term.replaceAll('`', ''))
