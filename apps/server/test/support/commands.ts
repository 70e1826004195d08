import type { Command } from 'commander'

export interface CommandFacts {
  /** As it is typed: `remit org create <name>`. */
  readonly usage: string
  readonly description: string
  /** As they are typed: `--plan <plan>`. */
  readonly options: readonly string[]
}

/** Every command of the help that does something, groups left out. */
export function commandsOf(command: Command, path = command.name()): CommandFacts[] {
  const visible = command.createHelp().visibleCommands(command)
  const children = visible.filter((child) => child.name() !== 'help')
  if (children.length > 0) {
    return children.flatMap((child) => commandsOf(child, `${path} ${child.name()}`))
  }
  const args = command.registeredArguments.map((argument) => {
    const text = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${text}>` : `[${text}]`
  })
  return [
    {
      usage: [path, ...args].join(' '),
      description: command.description(),
      options: command.options.map(({ flags }) => flags),
    },
  ]
}
