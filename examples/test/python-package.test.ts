import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inFullRun, isCompleteRun } from '@remit/testing/pure'
import { afterAll, describe, expect, it } from 'vitest'
import { isInstalled, toolsEnvironment } from './support/python-hosts.ts'

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../sdks/python')
const tools = toolsEnvironment()
const pyright = fileURLToPath(import.meta.resolve('pyright/package.json'))
const isRun = inFullRun('the package for Python') && isInstalled(tools)

// Without `examples/test/support/python-hosts.ts` these say that they are skipped.
describe.skipIf(!isRun)('the package for Python', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-python-'))
  afterAll(() => rmSync(temp, { recursive: true, force: true }))

  it('has types that mypy accepts', async () => {
    const options = ['-m', 'mypy', '--cache-dir', join(temp, 'mypy')]
    const { stdout } = await run(tools.python, options, { cwd: folder })

    expect(stdout).toMatch(/^Success: no issues found in \d+ source files\n$/)
  })

  it.runIf(isCompleteRun)('has types that pyright accepts', async () => {
    // Its Python is the one of an empty environment: it reads no framework.
    const options = ['--project', folder, '--pythonpath', tools.python]
    const { stdout } = await run(process.execPath, [resolve(pyright, '../index.js'), ...options])

    expect(stdout).toContain('0 errors, 0 warnings, 0 informations')
  })

  it('has no finding of a linter, its tests neither', async () => {
    const options = ['-m', 'ruff', 'check', '--no-cache', 'src', 'tests']
    const { stdout } = await run(tools.python, options, { cwd: folder })

    expect(stdout).toBe('All checks passed!\n')
  })

  it('is a source archive, and a wheel made of that, which brings its types into an empty environment', async () => {
    // A build writes into its folder.
    const source = join(temp, 'source')
    cpSync(folder, source, { recursive: true, filter: (path) => !path.includes('.hosts') })
    const files = join(temp, 'dist')
    await run(tools.python, ['-m', 'build', '--no-isolation', '--outdir', files, source])
    const built = readdirSync(files).toSorted()
    expect(built).toEqual([
      expect.stringMatching(/^remit-.*-py3-none-any\.whl$/),
      expect.stringMatching(/^remit-.*\.tar\.gz$/),
    ])
    const venv = join(temp, 'empty')
    await run(tools.python, ['-m', 'venv', venv])
    const python = join(venv, 'bin/python')
    await run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-index',
      join(files, built[0] ?? ''),
    ])

    const program = `
from importlib import resources
from remit import Client, Gate
import remit.ag2, remit.claude_agent, remit.crewai, remit.google_adk, remit.langchain, remit.langgraph, remit.llama_index, remit.openai_agents, remit.pydantic_ai
gate = Gate(Client("http://127.0.0.1:9", "rmk_x"), agent_id="a", retries=0)
print(gate.check("pay").reason, resources.files("remit").joinpath("py.typed").is_file())`
    const { stdout } = await run(python, ['-c', program], { cwd: temp })
    expect(stdout).toBe('remit_unavailable True\n')
  })
})
