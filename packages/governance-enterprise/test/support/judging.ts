import type { ScorersAnswer } from '@remit/contract'
import type { TestRemitOptions } from '@remit/testing'
import { createApi } from './api.ts'
import type { Api } from './api.ts'
import { SCRIPTS } from './judge-scripts.ts'
import type { ScriptName } from './judge-scripts.ts'
import { startJudgeServer } from './judge-server.ts'
import type { JudgeServer } from './judge-server.ts'

/** The key of the operator; it must turn up nowhere but at the judge's server. */
export const SECRET = 'sk-judge-secret'
export const PRICES = { input: 2, output: 8, cached_input: 0.5 }

type Provider = 'openai_compatible' | 'anthropic'

/** The file of an operator with a judge for every script, each named like it. */
function judgesFile(server: JudgeServer, provider: Provider, more: object = {}, daily?: object) {
  const base_url = provider === 'anthropic' ? server.url : `${server.url}/v1`
  const judges = Object.fromEntries(
    Object.keys(server.scripts).map((model) => [
      model,
      { provider, base_url, key_env: 'JUDGE_KEY', model, prices: PRICES, ...more },
    ]),
  )
  return { judges, default: 'good', ...(daily && { daily_per_organization: daily }) }
}

const sourceOf = (file: unknown) => ({
  text: JSON.stringify(file),
  variable: (name: string) => (name === 'JUDGE_KEY' ? SECRET : undefined),
})

/** Remit with judges on loopback. */
export interface Judging {
  readonly api: Api
  readonly server: JudgeServer
  /** Settings for a second process with the same judges. */
  readonly settings: NonNullable<TestRemitOptions['settings']>
  judge(judge: ScriptName, params?: object, results?: readonly object[]): Promise<ScorersAnswer>
  close(): Promise<void>
}

export interface JudgingOptions extends TestRemitOptions {
  readonly provider?: Provider
  /** Further settings of every judge. */
  readonly more?: object
  /** `daily_per_organization` of the file. */
  readonly daily?: object
}

export async function startJudging(options: JudgingOptions = {}): Promise<Judging> {
  const { provider = 'openai_compatible', more, daily, ...remit } = options
  const server = await startJudgeServer({ ...SCRIPTS })
  const judges = sourceOf(judgesFile(server, provider, more, daily))
  const settings = { judges, ...remit.settings }
  const api = await createApi({ ...remit, settings })
  return {
    api,
    server,
    settings,
    judge: (judge, params = {}, results = [{ input: '2 + 2', output: '4' }]) =>
      api.ok('runScorer', { body: judgeBody(judge, params, results) }),
    async close() {
      await api.remit.close()
      await server.stop()
    },
  }
}

export const judgeBody = (judge: string, params: object, results: readonly object[]) => ({
  scorer: 'llm_as_judge',
  params: { judge, criteria: 'The answer is right.', ...params },
  results,
})
