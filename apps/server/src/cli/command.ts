import { Option } from 'commander'
import type { Command } from 'commander'

/** A command that does something; every one takes `--json`. */
export const subcommand = (parent: Command, signature: string, description: string): Command =>
  parent.command(signature).description(description).option('--json', 'Print JSON')

/** `--org`, as every command has it that works on one organization. */
export const orgOption = (): Option =>
  new Option('--org <org>', 'Organization, by id or name; optional if there is only one')

/** One of a closed list of values. */
export const choice = (flags: string, description: string, values: readonly string[]): Option =>
  new Option(flags, description).choices(values)
