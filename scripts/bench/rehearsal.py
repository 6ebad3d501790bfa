"""A rehearsal device: tensors that say they are on ``rehearsal:0`` and are computed on the CPU (torch >= 2.13).

It stands in for a GPU where there is none. It refuses what CUDA refuses (operands on two devices, ``numpy()`` of a
tensor on the device, index tensors of the host where they must be on the device), and it counts what a GPU would pay:
kernels launched, copies in each direction, and points at which the host waits for the device. It says nothing about
speed. Results are those of the CPU, since the CPU computes them.

    model = to_device(model)
    with rehearse() as counts:
        generator.generate([model], to_device(sample))
    print(counts)

Differences from a real device: views of parameters fail in inference mode under a wrapper, so that within
:func:`rehearse` ``torch.inference_mode`` is ``torch.no_grad``; memory is not pinned and all copies are made at once;
packed sequences cannot be followed (an LSTM's encoder: torch goes on inside of one C++ function), nor is an optimiser's
step.
"""

import contextlib
import copy
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("rehearsal")
DEVICE = torch.device("rehearsal", 0)

#: Operations that only look at memory in another way: no kernel.
VIEWS = frozenset(
    "_reshape_alias _unsafe_view alias as_strided chunk detach diagonal expand is_same_size lift_fresh narrow permute "
    "select slice split split_with_sizes squeeze t transpose unbind unfold unsqueeze view view_as_complex view_as_real "
    "view_dtype".split()
)
#: Operations that take memory and write nothing to it: no kernel.
ALLOCATIONS = frozenset("empty empty_like empty_strided new_empty new_empty_strided".split())
#: Operations whose result's shape or value the host must know: it waits.
WAITS = frozenset(
    "_local_scalar_dense _unique2 equal is_nonzero item masked_select nonzero unique_consecutive unique_dim".split()
)
#: Operations that take index tensors of the host, and copy them to the device.
HOST_INDICES = frozenset("index index_put index_put_ _index_put_impl_".split())

def _lstm_cell(
    input_gates: torch.Tensor, hidden_gates: torch.Tensor, cell: torch.Tensor, *biases: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """One LSTM cell: on a GPU one kernel, which the CPU does not have."""
    gates = input_gates + hidden_gates + sum(biases)
    enter, forget, new, leave = gates.chunk(4, dim=1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell, gates


#: Kernels that only a GPU has, computed another way.
INSTEAD = {"_thnn_fused_lstm_cell": _lstm_cell}


@dataclass
class Counts:
    """What a GPU would have been asked for.

    Attributes:
        launches: kernels.
        to_device, to_host: copies in each direction.
        waits: points at which the host waits for the device: copies to the host included.
        places: how often each of these came from which line outside torch, such as ``wait sampling/step.py:80``.
    """

    launches: int = 0
    to_device: int = 0
    to_host: int = 0
    waits: int = 0
    places: "Counter[str]" = field(default_factory=Counter)

    def add(self, kind: str, operation: str) -> None:
        """Count one launch, copy or wait."""
        setattr(self, kind, getattr(self, kind) + 1)
        self.places[f"{kind} {operation} {_caller()}"] += 1

    def summary(self, steps: int = 1) -> dict[str, float]:
        """Launches, copies and waits, each divided by the number of steps."""
        return {k: round(getattr(self, k) / steps, 2) for k in ("launches", "to_device", "to_host", "waits")}


def _caller() -> str:
    """The innermost line that is not torch's and not this file's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and ("/torch/" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    return f"{'/'.join(frame.f_code.co_filename.split('/')[-2:])}:{frame.f_lineno}"


_counts = Counts()


class RehearsalTensor(torch.Tensor):
    """A tensor that says it is on the rehearsal device; ``elem`` is the tensor of the CPU that holds its values."""

    elem: torch.Tensor

    @staticmethod
    def __new__(cls, elem: torch.Tensor, requires_grad: bool = False) -> "RehearsalTensor":
        made = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
            layout=elem.layout, device=DEVICE, requires_grad=requires_grad,
        )  # fmt: skip
        made.elem = elem
        return made

    def __repr__(self, **_: Any) -> str:
        return f"RehearsalTensor({self.elem!r})"

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"can't convert a tensor of {DEVICE} to numpy: use Tensor.cpu() first")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"can't convert a tensor of {DEVICE} to numpy: use Tensor.cpu() first")

    def __deepcopy__(self, memo: dict[int, Any]) -> "RehearsalTensor":
        return RehearsalTensor(copy.deepcopy(self.elem, memo), self.requires_grad)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Factories(TorchDispatchMode):
    """Brings operations without a tensor of the device (``torch.zeros(..., device=DEVICE)``) here too."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _wrap(x: Any) -> Any:
    return RehearsalTensor(x) if isinstance(x, torch.Tensor) and not isinstance(x, RehearsalTensor) else x


def _unwrap(x: Any) -> Any:
    return x.elem if isinstance(x, RehearsalTensor) else x


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = func.overloadpacket.__name__
    tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
    on_device = any(isinstance(x, RehearsalTensor) for x in tensors)
    target = kwargs.get("device")
    if name == "_to_copy":
        return _moved(func, args, kwargs)
    if name == "copy_":
        return _copied(args)
    if not on_device and (target is None or torch.device(target).type != DEVICE.type):
        return func(*args, **kwargs)
    _refuse_two_devices(name, tensors)
    if name in WAITS or (name == "index" and any(x.dtype == torch.bool for x in tensors[1:])):
        _counts.add("waits", name)
    if name not in VIEWS and name not in ALLOCATIONS and name != "_local_scalar_dense":
        _counts.add("launches", name)
    inner = tree_map(_unwrap, kwargs)
    if target is not None:
        inner["device"] = torch.device("cpu")
    found = INSTEAD.get(name, func)(*tree_map(_unwrap, args), **inner)
    if target is not None and torch.device(target).type == "cpu":
        return found
    return _returned(func, args, kwargs, found)


def _moved(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """``to``: another device, another type, or both."""
    source = args[0]
    target = torch.device(kwargs.get("device") or source.device)
    inner = {k: v for k, v in kwargs.items() if k not in ("device", "non_blocking", "pin_memory")}
    found = func(_unwrap(source), **inner, device=torch.device("cpu"))
    if target.type == DEVICE.type:
        _counts.add("launches" if isinstance(source, RehearsalTensor) else "to_device", "to")
        return _wrap(found)
    if isinstance(source, RehearsalTensor):
        _counts.add("to_host", "to")
        _counts.add("waits", "to")
    return found


def _copied(args: Any) -> Any:
    """``copy_`` between the devices, or within one."""
    target, source = args[0], args[1]
    _unwrap(target).copy_(_unwrap(source))
    if isinstance(target, RehearsalTensor):
        _counts.add("launches" if isinstance(source, RehearsalTensor) else "to_device", "copy_")
    elif isinstance(source, RehearsalTensor):
        _counts.add("to_host", "copy_")
        _counts.add("waits", "copy_")
    return target


def _refuse_two_devices(name: str, tensors: list[torch.Tensor]) -> None:
    """CUDA takes a number of the host as an operand, and index tensors of the host in ``x[index]``; nothing else."""
    for x in tensors:
        if isinstance(x, RehearsalTensor) or x.dim() == 0:
            continue
        if name not in HOST_INDICES:
            shapes = ", ".join(f"{tuple(t.shape)} on {t.device}" for t in tensors)
            raise RuntimeError(f"{name}: expected all tensors on one device, got {shapes} (at {_caller()})")
        _counts.add("to_device", name)
        _counts.add("waits", name)


def _returned(func: Any, args: Any, kwargs: dict[str, Any], found: Any) -> Any:
    """The result as tensors of the device; what was changed in place, or given as ``out``, is itself."""
    arguments = func._schema.arguments
    written = [a for a, s in zip(args, arguments, strict=False) if s.alias_info and s.alias_info.is_write]
    written += [kwargs[s.name] for s in arguments if s.kwarg_only and s.alias_info and s.name in kwargs]
    known = {id(x.elem): x for x in written if isinstance(x, RehearsalTensor)}
    one = lambda x: known.get(id(x)) if id(x) in known else _wrap(x)  # noqa: E731
    return type(found)(map(one, found)) if isinstance(found, (tuple, list)) else one(found)


def to_device(x: Any) -> Any:
    """Tensors, modules (changed in place, their own tensors too), and dictionaries, lists and tuples of them.

    This is the set-up: it is not counted.
    """
    if isinstance(x, torch.nn.Module):
        for module in x.modules():
            _move_module(module)
        return x
    return tree_map(lambda part: _wrap(part.detach()) if isinstance(part, torch.Tensor) else part, x)


def _move_module(module: torch.nn.Module) -> None:
    for name, parameter in module._parameters.items():
        if parameter is not None and not isinstance(parameter.data, RehearsalTensor):
            moved = RehearsalTensor(parameter.data)
            module._parameters[name] = torch.nn.Parameter(moved, requires_grad=parameter.requires_grad)
    for store in (module._buffers, vars(module)):
        store.update({name: _wrap(x) for name, x in store.items() if isinstance(x, torch.Tensor)})


@contextlib.contextmanager
def rehearse() -> Iterator[Counts]:
    """Within it the device exists; gives the counts, which go on until its end."""
    global _counts
    previous, _counts = _counts, Counts()
    make = torch.tensor

    def tensor(data: Any, *args: Any, device: Any = None, **options: Any) -> torch.Tensor:
        made = make(data, *args, **options)  # torch makes it without telling a mode, and then moves it
        return made if device is None or torch.device(device).type == "cpu" else made.to(device)

    kind = torch.inference_mode  # also where it decorates a function already
    with (
        mock.patch.object(torch, "tensor", tensor),
        mock.patch.object(kind, "__enter__", _enter_no_grad),
        mock.patch.object(kind, "__exit__", _exit_no_grad),
        _Factories(),
    ):
        try:
            yield _counts
        finally:
            _counts = previous


def _enter_no_grad(mode: Any) -> None:
    mode._instead = torch.no_grad()
    mode._instead.__enter__()


def _exit_no_grad(mode: Any, *error: Any) -> None:
    mode._instead.__exit__(*error)


def _register_kernels() -> None:
    """What torch makes on the device by itself, such as scalars that are assigned, goes past the modes."""
    library = torch.library.Library("aten", "IMPL")

    def empty(size: Any, *_: Any, dtype: Any = None, **__: Any) -> torch.Tensor:
        return RehearsalTensor(torch.empty(size, dtype=dtype))

    def empty_strided(size: Any, stride: Any, *_: Any, dtype: Any = None, **__: Any) -> torch.Tensor:
        return RehearsalTensor(torch.empty_strided(size, stride, dtype=dtype))

    def copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        return _copied((target, source))

    library.impl("empty.memory_format", empty, "PrivateUse1")
    library.impl("empty_strided", empty_strided, "PrivateUse1")
    library.impl("_copy_from", copy_from, "PrivateUse1")
    _libraries.append(library)


_libraries: list[Any] = []  # torch forgets a library's kernels with the library
_register_kernels()
