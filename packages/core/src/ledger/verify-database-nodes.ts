import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import type { TreeNode } from './link.ts'
import { TILE_WIDTH } from './tiles.ts'
import type { DatabaseFindings } from './verify-database-report.ts'
import { readNodes } from './verify-database-store.ts'

/** The inner nodes that the entries give, compared with the stored ones as they close. */
export class NodeCheck {
  /** How many nodes of a level have closed. */
  readonly #closed: number[] = []
  #waiting: TreeNode[] = []
  readonly #db: Database<CoreTables>
  readonly #orgId: string
  readonly #findings: DatabaseFindings

  constructor(db: Database<CoreTables>, orgId: string, findings: DatabaseFindings) {
    this.#db = db
    this.#orgId = orgId
    this.#findings = findings
  }

  /** The next root of 256^level leaves. */
  add(level: number, hash: string): void {
    const idx = this.#closed[level] ?? 0
    this.#closed[level] = idx + 1
    this.#waiting.push({ level, idx, hash })
  }

  /** Compares the nodes that closed since the last call. */
  async compare(): Promise<void> {
    const nodes = this.#waiting
    this.#waiting = []
    for (const [level, computed] of Map.groupBy(nodes, (node) => node.level)) {
      const from = computed[0]?.idx ?? 0
      const stored = await readNodes(this.#db, this.#orgId, level, from, computed.length)
      for (const node of computed) this.#compareOne(node, stored.get(node.idx))
    }
  }

  /** Finds nodes beyond those of a tree of `size` leaves; `stored` is how many there are. */
  compareCount(size: number, stored: number): void {
    let expected = 0
    for (let span = TILE_WIDTH; span <= size; span *= TILE_WIDTH) {
      expected += Math.floor(size / span)
    }
    if (stored > expected) {
      this.#findings.add(size - 1, 'node_unexpected', `${stored} nodes instead of ${expected}`)
    }
  }

  #compareOne({ level, idx, hash }: TreeNode, stored: string | undefined): void {
    this.#findings.nodesChecked++
    if (stored === hash) return
    this.#findings.nodesMismatched++
    const code = stored === undefined ? 'node_missing' : 'node_mismatch'
    this.#findings.add((idx + 1) * TILE_WIDTH ** level - 1, code, `level ${level}, index ${idx}`)
  }
}
