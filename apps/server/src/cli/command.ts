import { Option } from 'commander'
import type { Command } from 'commander'

/** Creates a subcommand; each has `--json`. */
export const subcommand = (parent: Command, signature: string, description: string): Command =>
  parent.command(signature).description(description).option('--json', 'Print JSON')

/** `--org`, for commands on one organization. */
export const orgOption = (): Option =>
  new Option('--org <org>', 'Organization, by id or name; optional if there is only one')

/** Creates an option with a closed list of values. */
export const choice = (flags: string, description: string, values: readonly string[]): Option =>
  new Option(flags, description).choices(values)
