import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import type { DefaultTheme, MarkdownOptions } from 'vitepress'

const DOCS = fileURLToPath(new URL('../', import.meta.url))
const MERMAID = fileURLToPath(
  new URL('../../node_modules/mermaid/dist/mermaid.min.js', import.meta.url),
)

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

/** The sidebar is the list of pages in docs/README.md: a group for each heading. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const [, ...groups] = readFileSync(join(DOCS, 'README.md'), 'utf8').split(/^## /m)
  return groups.map((group) => ({
    text: group.slice(0, group.indexOf('\n')),
    items: [...group.matchAll(/\[([^\]]+)\]\(([\w/-]+\.md)\)/g)].map(
      ([, text = '', link = '']) => ({ text, link: `/${link.replace(/\.md$/, '')}` }),
    ),
  }))
}

/** As GitHub does it, where the same pages are read. */
const slugOf = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

/** Links work as where the pages are read as files. What the site lacks becomes text that names the file. */
function repositoryLinks(md: Markdown) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const page =
      (env as { realPath?: string; path: string }).realPath ?? (env as { path: string }).path
    for (const block of tokens) {
      let outside = false
      for (const token of block.children ?? []) {
        if (token.type === 'link_close' && outside) {
          outside = false
          token.tag = 'span'
        }
        if (token.type !== 'link_open') continue
        const [, target = '', hash = ''] = /^([^#]*)(.*)$/.exec(token.attrGet('href') ?? '') ?? []
        if (target === '' || /^[a-z]+:/.test(target)) continue
        const file = resolve(dirname(page), decodeURIComponent(target))
        if (!existsSync(file)) throw new Error(`${page} links to ${target}, which does not exist`)
        if (file.startsWith(DOCS) && file.endsWith('.md')) {
          token.attrSet('href', `${target.replace(/README\.md$/, 'index.md')}${hash}`)
          continue
        }
        outside = true
        token.type = 'span_open'
        token.tag = 'span'
        token.attrs = [['title', `${relative(resolve(DOCS, '..'), file)} of the repository`]]
      }
    }
  })
}

/** `- [ ]` begins an item of a checklist. */
function checklists(md: Markdown) {
  md.core.ruler.push('checklists', ({ tokens }) => {
    for (const [at, { type, children }] of tokens.entries()) {
      const first = children?.[0]
      const item = tokens[at - 2]
      if (type !== 'inline' || item?.type !== 'list_item_open') continue
      if (!first?.content.startsWith('[ ] ')) continue
      item.attrJoin('class', 'task')
      first.content = first.content.slice('[ ] '.length)
    }
  })
}

/** Renders for the index of the search: the colors of code cost more than all the rest, and are no words. */
function withoutColors(md: { options: { highlight?: unknown } }, render: () => string): string {
  const { highlight = null } = md.options
  md.options.highlight = null
  try {
    return render()
  } finally {
    md.options.highlight = highlight
  }
}

function mermaid(md: Markdown) {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, at, ...rest) =>
    tokens[at]?.info.trim() === 'mermaid'
      ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[at].content)}</pre>`
      : (fence?.(tokens, at, ...rest) ?? '')
}

/** Every link of a built page leads to a page and to a heading on it. VitePress checks the pages alone. */
function checkLinks(folder: string) {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const),
  )
  const ids = new Map(
    [...pages].map(([name, html]) => [
      name,
      new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  )
  const broken = [...pages].flatMap(([name, html]) =>
    [...html.matchAll(/<a\s[^>]*href="([^":]*)#([^"]+)"/g)]
      .filter(([, path = '', hash = '']) => {
        const target = path === '' ? name : posix.join(posix.dirname(name), path)
        return ids.get(target)?.has(decodeURIComponent(hash)) !== true
      })
      .map(([, path, hash]) => `${name}: ${path}#${hash}`),
  )
  if (broken.length > 0) throw new Error(`links without a heading:\n${broken.join('\n')}`)
}

// oxlint-disable-next-line import/no-default-export -- VitePress reads it.
export default defineConfig({
  title: 'Remit',
  description: 'Authorization API and tamper-evident audit ledger for AI agents',
  lang: 'en-US',
  // The compiler inside knows no es2024.
  vite: { esbuild: { tsconfigRaw: '{}' } },
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites: { 'README.md': 'index.md' },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    languageAlias: { cel: 'javascript' },
    anchor: { slugify: slugOf },
    config(md) {
      repositoryLinks(md)
      checklists(md)
      mermaid(md)
    },
  },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    // Decision records are for those who change Remit: they are pages, but no results.
    search: {
      provider: 'local',
      options: {
        _render: (source, env, md) =>
          env.relativePath.startsWith('adr/')
            ? ''
            : withoutColors(md, () => md.render(source, env)),
      },
    },
  },
  buildEnd({ outDir }) {
    copyFileSync(MERMAID, join(outDir, 'mermaid.min.js'))
    checkLinks(outDir)
  },
})
