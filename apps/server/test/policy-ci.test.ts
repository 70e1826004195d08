import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  bundledProgram,
  createApi,
  inFullRun,
  isCompleteRun,
  packedOnce,
  sampled,
  scratchFolder,
} from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { listen } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'

const POLICIES = resolve(import.meta.dirname, '../../../examples/policies')
const isRun = inFullRun('the CI examples of the policy packs') && hasModules()

/** Their steps are the same commands. */
const NAMES = sampled(['GitHub', 'GitLab'] as const)

type Env = Readonly<Record<string, string>>
type Job = 'test' | 'plan' | 'apply'

interface Step {
  readonly run: string
  readonly env: Env
  /** It runs after a failure too. */
  readonly isAlways: boolean
}

const [TOKEN, NUMBER, COMMIT] = ['tok', '7', '4b825dc']

/** The steps of a job as the CI service runs them, with its variables and secrets. */
const SERVICES = {
  GitHub: {
    shell: ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c'],
    steps(job: Job, keys: Env): Step[] {
      const { env, jobs } = fileOf('github-actions.yml') as {
        env: Env
        jobs: Record<Job, { steps: { run?: string; env?: Env; if?: string }[] }>
      }
      const known: Env = {
        ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [`secrets.${name}`, key])),
        'github.token': TOKEN,
        'github.event.number': NUMBER,
      }
      const valueOf = (value: string) =>
        value.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, name: string) => known[name] ?? '')
      return jobs[job].steps.flatMap(({ run, env: own, if: when }) => {
        const all = Object.entries({ ...env, ...own })
        const values = Object.fromEntries(all.map(([name, value]) => [name, valueOf(value)]))
        return run === undefined ? [] : [{ run, env: values, isAlways: when === 'always()' }]
      })
    },
    variables: (api: string) => ({
      GITHUB_API_URL: api,
      GITHUB_REPOSITORY: 'acme/rules',
      GITHUB_SHA: COMMIT,
      GITHUB_STEP_SUMMARY: 'summary.md',
    }),
    comment: {
      path: '/repos/acme/rules/issues/7/comments',
      token: 'Bearer tok',
      bodyOf: (sent: string) => (JSON.parse(sent) as { body: string }).body,
    },
  },
  GitLab: {
    shell: ['sh', '-ec'],
    steps(job: Job, keys: Env): Step[] {
      const file = fileOf('gitlab-ci.yml') as Record<
        Job,
        { variables?: Env; script: string[]; after_script?: string[] }
      > & { variables: Env; default: { before_script: string[] } }
      const { variables, script, after_script: after = [] } = file[job]
      const env = { ...file.variables, ...variables, ...keys, GITLAB_TOKEN: TOKEN }
      return [
        ...[...file.default.before_script, ...script].map((run) => ({ run, env, isAlways: false })),
        ...after.map((run) => ({ run, env, isAlways: true })),
      ]
    },
    variables: (api: string) => ({
      CI_API_V4_URL: api,
      CI_PROJECT_ID: '5',
      CI_MERGE_REQUEST_IID: NUMBER,
      CI_COMMIT_SHA: COMMIT,
    }),
    comment: {
      path: '/projects/5/merge_requests/7/notes',
      token: 'tok',
      bodyOf: (sent: string) => new URLSearchParams(sent).get('body') ?? '',
    },
  },
}

const fileOf = (name: string): unknown => parse(readFileSync(join(POLICIES, 'ci', name), 'utf8'))

/** The API of the service for comments. */
async function startComments() {
  const comments: { readonly path: string; readonly token: string; readonly sent: string }[] = []
  const server = createServer((request, response) => {
    const token = String(request.headers['private-token'] ?? request.headers.authorization)
    const keep = async () => {
      comments.push({ path: request.url ?? '', token, sent: await text(request) })
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
    }
    void keep()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, comments, stop: () => server.close() }
}

describe.skipIf(!isRun).each(NAMES)('the CI example for %s', (name) => {
  const service = SERVICES[name]
  const folder = scratchFolder('ci')
  const [origin, prefix] = [join(folder, 'origin'), join(folder, 'npm')]
  let api: Api
  let server: Awaited<ReturnType<typeof listen>>
  let comments: Awaited<ReturnType<typeof startComments>>
  let keys: Readonly<Record<'PLAN_KEY' | 'APPLY_KEY', string>>
  beforeAll(async () => {
    api = await createApi({ modules: await loadModules() })
    server = await listen(api.remit.app, { host: '127.0.0.1', port: 0 })
    comments = await startComments()
    const read = await api.remit.key(api.org.id, 'read')
    keys = { PLAN_KEY: read, APPLY_KEY: api.org.key }
    for (const made of [join(origin, 'remit'), join(prefix, 'bin')])
      mkdirSync(made, { recursive: true })
    cpSync(join(POLICIES, 'payments'), join(origin, 'rules'), { recursive: true })
    if (isCompleteRun) await copyPackages(join(origin, 'remit'))
    else
      writeFileSync(
        join(prefix, 'bin/remit'),
        `#!/bin/sh\nexec '${process.execPath}' '${bundledProgram('cli')}' "$@"\n`,
        { mode: 0o755 },
      )
    await shell('git init -q -b main && git add . && git commit -qm Rules', origin)
  })
  afterAll(async () => {
    comments.stop()
    await server.stop()
    await api.remit.close()
  })

  async function shell(command: string, cwd: string, env: Env = {}) {
    const [program, ...args] = [...service.shell, command]
    const path = [join(prefix, 'bin'), process.env['PATH']].join(delimiter)
    const child = spawn(program, args, {
      cwd,
      env: {
        PATH: path,
        HOME: folder,
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        npm_config_prefix: prefix,
        GIT_CONFIG_COUNT: '2',
        GIT_CONFIG_KEY_0: 'user.name',
        GIT_CONFIG_VALUE_0: 'test',
        GIT_CONFIG_KEY_1: 'user.email',
        GIT_CONFIG_VALUE_1: 'test@example.com',
        ...env,
      },
    })
    const ended = once(child, 'close') as Promise<[number]>
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      ended,
    ])
    return { code, output: stdout + stderr }
  }

  /** A branch with a change of the rules. */
  async function branch(of: string, from: string, to: string): Promise<void> {
    const change = `sed -i 's/${from}/${to}/' rules/rules.yaml && git commit -qam '${of}'`
    const { code, output } = await shell(
      `git switch -qc ${of} && ${change} && git switch -q main`,
      origin,
    )
    expect({ code, output }).toEqual({ code: 0, output: '' })
  }

  let checkouts = 0
  /** Runs the steps of a job on a clean checkout, one by one. */
  async function job(of: Job, from: string, secrets: Env, changed: Env = {}) {
    const checkout = join(folder, `checkout-${++checkouts}`)
    await shell(`git clone -q -b ${from} '${origin}' '${checkout}'`, folder)
    let [code, output] = [0, '']
    for (const { run, env, isAlways } of service.steps(of, secrets)) {
      // Only a complete run has the packages to install.
      if ((code !== 0 && !isAlways) || (!isCompleteRun && run.startsWith('npm install'))) continue
      const all = { ...service.variables(comments.url), ...env, REMIT_URL: server.url, ...changed }
      const ended = await shell(run, checkout, all)
      output += ended.output
      if (code === 0) code = ended.code
    }
    const summary = join(checkout, 'summary.md')
    return { code, output, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : output }
  }
  const approvals = async () =>
    (await api.ok('getApprovalRule', { params: { id: 'payments.payee-changes' } }))
      .required_approvals

  test('tests main without a key, applies it, and then has nothing to apply', async () => {
    expect(await job('test', 'main', {})).toMatchObject({ code: 0 })
    const applied = await job('apply', 'main', keys)
    expect(applied.output).toContain('Applied as revision 1.')
    expect((await job('apply', 'main', keys)).output).toContain('Nothing to apply.')
    const { data } = await api.ok('listEntries', { query: { kind: 'policy_set.applied' } })
    expect(data.map((entry) => entry.data?.['change_reason'])).toEqual(['Commit 4b825dc'])
  })

  test('stops a pull request that weakens a rule', async () => {
    await branch('weaker', 'amount_usd > 10000', 'amount_usd > 20000')
    const { code, summary } = await job('test', 'weaker', {})
    expect(code).toBe(1)
    expect(summary).toContain('a cent more than the maximum: expected deny')
  })

  test('says that it cannot run without a license and without evaluation', async () => {
    const { code, output } = await job('test', 'main', {}, { REMIT_EVALUATION: '0' })
    expect(code).toBe(2)
    expect(output).toContain('not available in this edition')
  })

  test('shows the plan of a pull request with a key that can change nothing', async () => {
    await branch('stricter', 'required_approvals: 2', 'required_approvals: 3')
    const { PLAN_KEY } = keys
    expect(await job('plan', 'stricter', { PLAN_KEY })).toMatchObject({ code: 0 })

    const [{ path, token, sent } = { path: '', token: '', sent: '' }] = comments.comments
    const { comment } = service
    expect({ path, token }).toEqual({ path: comment.path, token: comment.token })
    expect(comment.bodyOf(sent)).toContain('`required_approvals`: `2` → `3`')
    const refused = await job('apply', 'stricter', { APPLY_KEY: PLAN_KEY })
    expect(refused.code).toBe(1)
    expect(await approvals()).toBe(2)
  })

  test('applies what was merged', async () => {
    await shell('git merge -q stricter', origin)
    expect((await job('apply', 'main', keys)).output).toContain('Applied as revision 2.')
    expect(await approvals()).toBe(3)
  })

  test('shows what somebody changed on the server, and fails', async () => {
    await api.ok('deletePolicy', { params: { policyID: 'payments.maximum' } })
    const before = comments.comments.length
    expect((await job('plan', 'main', keys)).code).toBe(11)
    expect(service.comment.bodyOf(comments.comments[before]?.sent ?? '')).toContain(
      'Policy payments.maximum was deleted',
    )
    expect((await job('apply', 'main', keys)).code).toBe(11)
  })
})

async function copyPackages(to: string): Promise<void> {
  const packed = await packedOnce()
  for (const name of readdirSync(packed))
    if (/^remit-.*\.tgz$/.test(name) && !name.startsWith('remit-chart'))
      cpSync(join(packed, name), join(to, name))
}
