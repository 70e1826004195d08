/** The request of the benchmark: about 220 bytes, with one non-ASCII string. */
const context = {
  amount_usd: 0.01,
  vendor: 'Müller GmbH',
  invoice: 'INV-2026-001',
  lines: [
    { sku: 'a', qty: 2 },
    { sku: 'b', qty: 1 },
  ],
  note: 'monthly',
}

export const ASK = {
  agent_id: 'payer',
  action: 'payments.transfer',
  resource: 'account:DE12',
  context,
}

export const ENTRY = {
  action: 'payments.transfer',
  agent_id: 'payer',
  resource: 'account:DE12',
  trace_id: 'trace-1',
  metadata: context,
  outcome: 'success' as const,
}
