import { helpOpen, shortcuts } from "../shortcuts.ts";
import { Dialog } from "./dialog.tsx";

export function ShortcutsDialog() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (helpOpen.value = false)}>
      <dl class="shortcuts">
        {shortcuts.map((s) => (
          <div key={s.keys}>
            <dt>
              {s.keys.split("  ").map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dt>
            <dd>{s.what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
