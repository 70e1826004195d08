import type { DecisionFacts, Matched, RecordedSpend } from './decision.ts'
import { isRecord } from './read.ts'
import { Scan } from './scan.ts'
import { holdOf, spendOf } from './slow-decision.ts'

/** A decision with the members of its payload beside those of its data. */
export interface ScannedDecision extends DecisionFacts {
  readonly agent_id: string | null
  readonly action: string | null
  readonly resource: string | null
  readonly decision: string | null
  readonly reason: string | null
}

/**
 * Reads a decision without parsing what it was asked (the context can be most of it); null where the
 * text is not laid out as the writer does. Says the same as `decisionOf`, several times as fast.
 */
export function scanDecision(text: string): ScannedDecision | null {
  const scan = new Scan(text)
  scan.expect('{"action":')
  const action = scan.textOrNull()
  scan.expect(',"actor":')
  scan.skip()
  scan.expect(',"agent_id":')
  const agentId = scan.textOrNull()
  scan.expect(',"data":{')
  if (scan.failed) return null
  const data = scanData(scan)
  scan.expect(',"decision":')
  const decision = scan.textOrNull()
  scan.expect(',"reason":')
  const reason = scan.textOrNull()
  scan.expect(',"resource":')
  const resource = scan.textOrNull()
  scan.expect('}')
  if (scan.failed || scan.at !== text.length) return null
  return {
    agent_id: agentId,
    action,
    resource,
    decision,
    reason,
    decisionId: data.decisionId,
    configVersion: data.configVersion,
    plan: data.plan,
    matched: data.matched,
    approval: data.approval,
    spend: data.spend,
    heldMicro: data.heldMicro,
  }
}

interface Data {
  decisionId: string | null
  configVersion: number | null
  plan: string | null
  matched: readonly Matched[] | null
  approval: DecisionFacts['approval']
  spend: RecordedSpend | null
  heldMicro: number
}

function scanData(scan: Scan): Data {
  const data: Data = {
    decisionId: null,
    configVersion: null,
    plan: null,
    matched: null,
    approval: null,
    spend: null,
    heldMicro: 0,
  }
  for (let name = scan.name(); name !== null; name = scan.name()) {
    if (name === 'config_version') data.configVersion = scan.number()
    else if (name === 'decision_id') data.decisionId = scan.string()
    else if (name === 'plan') data.plan = scan.string()
    else if (name === 'matched') data.matched = scanMatched(scan)
    else if (name === 'approval') data.approval = scanApproval(scan)
    else if (name === 'spend') data.spend = spendOf(scanObject(scan))
    else if (name === 'hold') data.heldMicro = holdOf(scanObject(scan))
    else scan.skip()
    if (scan.failed) break
  }
  return data
}

const NO_MATCHES: readonly Matched[] = []

function scanMatched(scan: Scan): readonly Matched[] {
  scan.expect('[')
  if (scan.text.startsWith(']', scan.at)) {
    scan.expect(']')
    return NO_MATCHES
  }
  const matched: Matched[] = []
  while (!scan.failed) {
    scan.expect('{"id":')
    const id = scan.string()
    scan.expect(',"kind":')
    const kind = scan.string()
    scan.expect('}')
    matched.push({ kind, id })
    if (!scan.text.startsWith(',', scan.at)) break
    scan.expect(',')
  }
  scan.expect(']')
  return matched
}

function scanApproval(scan: Scan): DecisionFacts['approval'] {
  scan.expect('{"id":')
  const id = scan.string()
  scan.expect(',"status":')
  const status = scan.string()
  scan.expect('}')
  return { id, status }
}

/** A small object, parsed. */
function scanObject(scan: Scan): Readonly<Record<string, unknown>> | null {
  const start = scan.at
  scan.skip()
  if (scan.failed) return null
  try {
    const value: unknown = JSON.parse(scan.text.slice(start, scan.at))
    return isRecord(value) ? value : null
  } catch {
    scan.failed = true
    return null
  }
}
