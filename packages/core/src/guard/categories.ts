/** A kind of finding with its ids in the two public taxonomies. */
interface Category {
  /** OWASP Top 10 for LLM Applications 2025 (LLM…) and for Agentic Applications 2026 (ASI…). */
  readonly owasp: readonly string[]
  /** MITRE ATLAS techniques. */
  readonly atlas: readonly string[]
}

const DIRECT: Category = { owasp: ['LLM01', 'ASI01'], atlas: ['AML.T0051.000'] }
const INDIRECT: Category = { owasp: ['LLM01', 'ASI01'], atlas: ['AML.T0051.001'] }
const DISCLOSURE: Category = { owasp: ['LLM02'], atlas: ['AML.T0057'] }

const CATEGORIES = {
  instruction_override: DIRECT,
  delimiter_injection: DIRECT,
  encoded_payload: { owasp: ['LLM01', 'ASI01'], atlas: ['AML.T0051.000', 'AML.T0068'] },
  context_flooding: DIRECT,
  indirect_injection: INDIRECT,
  embedded_instruction: INDIRECT,
  hidden_text: { owasp: ['LLM01', 'ASI01'], atlas: ['AML.T0051.001', 'AML.T0068'] },
  jailbreak: { owasp: ['LLM01'], atlas: ['AML.T0054'] },
  social_engineering: { owasp: ['LLM01'], atlas: ['AML.T0054'] },
  prompt_leak: { owasp: ['LLM07'], atlas: ['AML.T0056'] },
  data_exfiltration: { owasp: ['LLM02'], atlas: ['AML.T0057', 'AML.T0077'] },
  canary_leak: DISCLOSURE,
  secret: DISCLOSURE,
  pii: DISCLOSURE,
  tool_abuse: { owasp: ['LLM06', 'ASI02', 'ASI05'], atlas: ['AML.T0053'] },
  memory_poisoning: { owasp: ['ASI06'], atlas: ['AML.T0080'] },
  self_replication: { owasp: ['ASI07'], atlas: ['AML.T0061'] },
  resource_abuse: { owasp: ['LLM10'], atlas: [] },
} as const satisfies Record<string, Category>

export type CategoryId = keyof typeof CATEGORIES

export type InjectionCategory = Exclude<CategoryId, 'canary_leak' | 'secret' | 'pii'>

export const categoryOf = (id: CategoryId): Category => CATEGORIES[id]
