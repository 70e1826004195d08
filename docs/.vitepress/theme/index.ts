import { defineComponent, h, nextTick, onMounted, watch } from 'vue'
import { useData, useRoute, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import type { Theme } from 'vitepress'
// oxlint-disable-next-line import/no-unassigned-import -- Styles have no name.
import './style.css'

interface Mermaid {
  initialize(options: object): void
  render(id: string, text: string): Promise<{ svg: string }>
}

let loading: Promise<Mermaid> | undefined

/** Three megabytes, so only a page with a diagram loads them. */
const loadMermaid = () =>
  (loading ??= new Promise((done, fail) => {
    const script = document.createElement('script')
    script.src = withBase('/mermaid.min.js')
    script.addEventListener('load', () => done((window as unknown as { mermaid: Mermaid }).mermaid))
    script.addEventListener('error', () => fail(new Error('mermaid.min.js did not load')))
    document.head.append(script)
  }))

const sources = new WeakMap<Element, string>()

async function draw(dark: boolean) {
  const diagrams = [...document.querySelectorAll('.mermaid')]
  if (diagrams.length === 0) return
  const mermaid = await loadMermaid()
  mermaid.initialize({ startOnLoad: false, theme: dark ? 'dark' : 'neutral' })
  for (const [at, diagram] of diagrams.entries()) {
    const source = sources.get(diagram) ?? diagram.textContent ?? ''
    sources.set(diagram, source)
    // One after the other: mermaid draws into a shared element.
    const { svg } = await mermaid.render(`diagram-${at}`, source)
    diagram.innerHTML = svg
  }
}

const Layout = defineComponent(() => {
  const { isDark } = useData()
  const route = useRoute()
  const redraw = () => nextTick(() => draw(isDark.value))
  onMounted(() => watch([() => route.path, isDark], redraw, { immediate: true }))
  return () => h(DefaultTheme.Layout)
})

const theme: Theme = { extends: DefaultTheme, Layout }
// oxlint-disable-next-line import/no-default-export -- VitePress reads it.
export default theme
