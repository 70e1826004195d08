import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { CliError } from './errors.ts'

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
