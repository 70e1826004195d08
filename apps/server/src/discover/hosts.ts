/** Places of the files of a host. `home`, `system` and `project` are relative to these; `app` is per platform. */
export interface HostFile {
  readonly in: 'home' | 'project' | 'app' | 'system'
  readonly path: string
  /** The content of the file. */
  readonly has: readonly Part[]
}

/** `servers`: members of `mcpServers` and the like. `hooks`: hooks as Claude Code has them. */
export type Part = 'servers' | 'projects' | 'hooks'

/** An agent host whose configuration is known. */
export interface Host {
  readonly name: string
  readonly files: readonly HostFile[]
  /** Its hooks can ask Remit; of another host only MCP servers can be governed. */
  readonly hooks?: 'claude-code' | 'codex'
}

const servers = ['servers'] as const
const hooks = ['hooks'] as const

/** The places of the configuration of each host, by its documentation. */
export const HOSTS: readonly Host[] = [
  {
    name: 'Claude Code',
    hooks: 'claude-code',
    files: [
      { in: 'home', path: '.claude.json', has: ['servers', 'projects'] },
      { in: 'home', path: '.claude/settings.json', has: hooks },
      { in: 'project', path: '.claude/settings.json', has: hooks },
      { in: 'project', path: '.claude/settings.local.json', has: hooks },
      { in: 'project', path: '.mcp.json', has: servers },
      { in: 'system', path: '/etc/claude-code/managed-settings.json', has: hooks },
      { in: 'system', path: '/etc/claude-code/managed-mcp.json', has: servers },
      {
        in: 'system',
        path: '/Library/Application Support/ClaudeCode/managed-settings.json',
        has: hooks,
      },
      {
        in: 'system',
        path: '/Library/Application Support/ClaudeCode/managed-mcp.json',
        has: servers,
      },
    ],
  },
  {
    name: 'Claude Desktop',
    files: [{ in: 'app', path: 'Claude/claude_desktop_config.json', has: servers }],
  },
  {
    name: 'Codex',
    hooks: 'codex',
    files: [
      { in: 'home', path: '.codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'home', path: '.codex/hooks.json', has: hooks },
      { in: 'project', path: '.codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'project', path: '.codex/hooks.json', has: hooks },
      { in: 'system', path: '/etc/codex/config.toml', has: ['servers', 'hooks'] },
      { in: 'system', path: '/etc/codex/requirements.toml', has: hooks },
    ],
  },
  {
    name: 'Cursor',
    files: [
      { in: 'home', path: '.cursor/mcp.json', has: servers },
      { in: 'project', path: '.cursor/mcp.json', has: servers },
    ],
  },
  {
    name: 'VS Code',
    files: [
      { in: 'app', path: 'Code/User/mcp.json', has: servers },
      { in: 'app', path: 'Code/User/settings.json', has: servers },
      { in: 'project', path: '.vscode/mcp.json', has: servers },
      { in: 'project', path: '.vscode/settings.json', has: servers },
    ],
  },
  {
    name: 'Windsurf',
    files: [{ in: 'home', path: '.codeium/windsurf/mcp_config.json', has: servers }],
  },
  {
    name: 'Gemini CLI',
    files: [
      { in: 'home', path: '.gemini/settings.json', has: servers },
      { in: 'project', path: '.gemini/settings.json', has: servers },
    ],
  },
  {
    name: 'GitHub Copilot CLI',
    files: [{ in: 'home', path: '.copilot/mcp-config.json', has: servers }],
  },
]
