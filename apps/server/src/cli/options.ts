import { hasVisibleCharacter, SuspensionReason } from '@remit/contract'
import { z } from 'zod'
import { CliError } from './errors.ts'
import { dirname, resolve } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'

/** Parses `--person`. Throws `CliError`. */
export function readEmail(text: string): string {
  if (z.email().max(254).safeParse(text).success) return text
  throw new CliError(`--person must be an e-mail address; given: ${text}`)
}

/** Parses `--reason`, which is recorded in the ledger. Throws `CliError`. */
export function readReason(text: string): string {
  if (/^[^\p{Cc}]{1,500}$/u.test(text) && hasVisibleCharacter(text)) return text
  throw new CliError(
    '--reason must be one line of 1 to 500 characters with at least one visible character',
  )
}

/** Parses an integer, such as a number of entries or days. Throws `CliError`. */
export function readCount(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CliError(`${option} must be a whole number; given: ${text}`)
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Parses a time in milliseconds; a date means its start in UTC. Throws `CliError`. */
export function readTime(option: string, text: string): number {
  const time = DATE.test(text) || TIME.test(text) ? Date.parse(text) : NaN
  if (!Number.isNaN(time)) return time
  throw new CliError(`${option} must be a date, or a time in RFC 3339; given: ${text}`)
}

/** The reason of a suspension, which is optional: a blank one is none. */
export function readOptionalReason(text: string | null): string | null {
  const { success, data } = SuspensionReason.safeParse(text)
  if (!success) throw new CliError('--reason must be at most 500 characters')
  return data
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Resolves a path of the command line from the folder of the user. `pnpm remit` runs the command in
 * the folder of its package; `INIT_CWD` then names the folder where pnpm was called, with `--dir`
 * too. Scripts that only inherit `INIT_CWD` from pnpm have their own folder.
 */
export function userPath(path: string, env: Env = process.env, cwd = process.cwd()): string {
  const { INIT_CWD: called, npm_lifecycle_event: script, npm_package_json: manifest } = env
  const isRunByPnpm = script === 'remit' && manifest !== undefined && dirname(manifest) === cwd
  return resolve(isRunByPnpm && called ? called : cwd, path)
}

/** Placeholders of arguments and options that name a file or a folder. */
const PATH = /[<[](?:files?|folder)(?:\.{3})?[>\]]/

/** Throws `CliError` if a path of a command is empty: it would mean the current folder. */
export function refuseEmptyPaths(command: Command): void {
  const given = [
    ...command.registeredArguments.map((argument, at) => {
      const text = argument.variadic ? `${argument.name()}...` : argument.name()
      const name = argument.required ? `<${text}>` : `[${text}]`
      return { name, form: name, value: command.processedArgs[at] as unknown }
    }),
    ...command.options.map((option) => ({
      name: option.long ?? option.flags,
      form: option.flags,
      value: command.getOptionValue(option.attributeName()) as unknown,
    })),
  ]
  for (const { name, form, value } of given)
    if (PATH.test(form) && [value].flat().includes(''))
      throw new CliError(`The path ${name} is empty`)
}

/** Creates a subcommand; each has `--json`. */
export const subcommand = (parent: Command, signature: string, description: string): Command =>
  parent.command(signature).description(description).option('--json', 'Print JSON')

/** `--org`, for commands on one organization. */
export const orgOption = (): Option =>
  new Option('--org <org>', 'Organization, by id or name; optional if there is only one')

/** Creates an option with a closed list of values. */
export const choice = (flags: string, description: string, values: readonly string[]): Option =>
  new Option(flags, description).choices(values)
