import { type ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { useLife } from "./hooks.ts";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  checked?: boolean;
  run(): void;
}

/** A button that opens a list of commands. Arrow keys move, Escape closes and gives the focus back. */
export function Menu({ label, items, children, class: cls }: { label: string; items: readonly MenuItem[]; children?: ComponentChildren; class?: string }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLife(
    (signal) => {
      const el = list.current;
      const anchor = button.current;
      if (!open || !el || !anchor) return;
      place(el, anchor);
      el.querySelector("button")?.focus();
      const away = (event: Event) => {
        if (!el.contains(event.target as Node) && !anchor.contains(event.target as Node)) setOpen(false);
      };
      document.addEventListener("pointerdown", away, { signal });
      document.addEventListener("focusin", away, { signal });
      addEventListener("resize", () => setOpen(false), { signal });
      document.addEventListener("scroll", (e) => e.target !== el && setOpen(false), { signal, capture: true });
    },
    [open],
  );
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) buttons.at(to % buttons.length)?.focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        class={cls ?? "quiet icon-only"}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {children ?? <Icon name="more" />}
      </button>
      {open && (
        <div class="menu" role="menu" id={id} aria-label={label} ref={list} onKeyDown={keys}>
          {items.map((item) => (
            <button
              type="button"
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.checked}
              key={item.label}
              tabIndex={-1}
              class={item.danger ? "danger" : ""}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.icon ? <Icon name={item.icon} /> : <Icon name="check" class={item.checked ? "" : "hidden"} />}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

function place(el: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const box = el.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.right - box.width, innerWidth - box.width - 8));
  const below = at.bottom + 4 + box.height < innerHeight;
  el.style.left = `${left}px`;
  el.style.top = `${below ? at.bottom + 4 : Math.max(8, at.top - box.height - 4)}px`;
}
