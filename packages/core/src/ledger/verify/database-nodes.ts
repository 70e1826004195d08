import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import type { TreeNode } from '../format/link.ts'
import { TILE_WIDTH } from '../format/tiles.ts'
import type { DatabaseFindings } from './database-report.ts'
import { readNodes } from '../store/pages.ts'

const LOT = 256

/** Compares the inner nodes of the entries with the stored ones. */
export class NodeCheck {
  /** Number of completed nodes per level. */
  readonly #closed: number[] = []
  readonly #from: number
  #waiting: TreeNode[] = []
  readonly #db: Database<CoreTables>
  readonly #orgId: string
  readonly #findings: DatabaseFindings

  /** `from` is the number of leaves that are assumed to be correct. */
  constructor(db: Database<CoreTables>, orgId: string, from: number, findings: DatabaseFindings) {
    this.#db = db
    this.#orgId = orgId
    this.#from = from
    this.#findings = findings
  }

  /** Adds the next root of 256^level leaves. */
  add(level: number, hash: string): void {
    const idx = this.#closed[level] ?? Math.floor(this.#from / TILE_WIDTH ** level)
    this.#closed[level] = idx + 1
    this.#waiting.push({ level, idx, hash })
  }

  /** Compares completed nodes: in batches, since a page of entries has few; `all` at the end. */
  async compare({ all }: { readonly all: boolean }): Promise<void> {
    if (!all && this.#waiting.length < LOT) return
    const nodes = this.#waiting
    this.#waiting = []
    for (const [level, computed] of Map.groupBy(nodes, (node) => node.level)) {
      const from = computed[0]?.idx ?? 0
      const stored = await readNodes(this.#db, this.#orgId, level, from, computed.length)
      for (const node of computed) this.#compareOne(node, stored.get(node.idx))
    }
  }

  /**
   * Reports nodes beyond those of a tree of `size` leaves; `stored` is their number from the cut
   * on.
   */
  compareCount(size: number, stored: number): void {
    let expected = 0
    for (let span = TILE_WIDTH; span <= size; span *= TILE_WIDTH) {
      expected += Math.floor(size / span) - Math.floor(this.#from / span)
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
