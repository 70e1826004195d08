import { expect, test } from 'vitest'
import { rowsOf } from '../../test/support/by-hand.ts'
import { ADA, APP, day, key } from '../../test/support/entries.ts'
import { factsOf } from '../../test/support/facts.ts'

const person = 'ada@example.org'

test.each([
  [ADA, {}, 'key key_ada (ada@example.org)'],
  [APP, {}, 'key key_app (no named person)'],
  [{ type: 'person', id: 'per_1' }, { person }, 'person per_1 (ada@example.org)'],
  [{ type: 'person', id: 'per_1' }, {}, 'person per_1'],
  [{ type: 'system', id: 'remit' }, { person }, 'system remit (ada@example.org)'],
  [{ type: 'system', id: 'remit' }, {}, 'system remit'],
  [{ type: 'credential', id: 'cred_1' }, {}, 'credential cred_1'],
])('the author of an entry is named: %j, %j', (actor, data, by) => {
  const keys = [key('key_ada', 'admin', person), key('key_app', 'admin', null)]
  const said = [...keys, { at: day(1), kind: 'policy.dry_run', actor, data }]
  const { entries } = factsOf(said)

  expect(entries.get(rowsOf(said).length - 1)?.by).toBe(by)
})
